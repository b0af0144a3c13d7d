"""Answers to declared questions, from the submission to stored judgements and back."""

import uuid

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.annotator.payload import leased_payload, task_payload
from annotation.answers.questions.stimuli import screen_questions
from annotation.answers.submission import SentAnswer, submit, submit_and_next
from annotation.answers.validation import answer_of
from annotation.assignment.leases import next_assignment
from annotation.models import Annotation, Assignment, Judgement
from foundation.errors import DomainError
from tests.annotation.answers.questions.test_validation import BOX, POINT, RANKING_ANSWER, RUBRIC_ANSWER
from tests.annotation.factories import add_images, new_annotator
from tests.annotation.kinds.examples import EXAMPLES, PAIRWISE, RUBRIC, add_screen, question_campaign
from tests.annotation.kinds.strategies import WORDS, answers_to, screens

pytestmark = pytest.mark.django_db

ANSWERS = {
    "rubric": {"answers": RUBRIC_ANSWER | {"fitting": 2, "why": "No kite."}, "regions": {"fitting": [BOX]}},
    "pairwise": {"answers": {"better": "s2", "reason": "shape"}, "regions": {}},
    "ranking": {
        "answers": RANKING_ANSWER | {"odd": {"s1": 1, "s2": 1, "s3": 3}, "oddity": {"s3": "large"}},
        "regions": {"odd": [POINT]},
    },
}


@pytest.fixture
def images(study):
    add_images(study, 3)


@pytest.fixture(params=EXAMPLES, ids=lambda kind: kind.key)
def campaign(request, study, images):
    return question_campaign(study, request.param)


@pytest.fixture
def post(client):
    def send(annotator, path, body=None):
        client.force_login(annotator.user)
        return client.post(f"/api/v1/{path}", body, content_type="application/json")

    return send


def sent(assignment, answer):
    return SentAnswer(assignment.annotator.user_id, assignment.public_id, uuid.uuid4(), answer)


def read_back(annotation_id):
    annotation = Annotation.objects.get(pk=annotation_id)
    return answer_of(annotation).questions.as_json(kind_by_key(annotation.campaign.kind))


def kind_by_key(key):
    return {kind.key: kind for kind in EXAMPLES}[key]


def leased_screen(study, screen):
    """Lease a screen of a drawn kind to an annotator."""
    shown = list(study.images.all()[: len(screen.refs)])
    if screen.kind.stimuli.medium == "text":
        shown = [" ".join(WORDS)] * len(screen.refs)
    campaign = question_campaign(study, screen.kind, screens=0)
    campaign.boxes_required = screen.regions_required
    campaign.save()
    task = add_screen(campaign, screen.kind, shown, prompt=" ".join(WORDS))
    return task, next_assignment(campaign=campaign, annotator=new_annotator(campaign))


def test_every_valid_answer_is_stored_and_read_back_as_it_was(study, images):
    @given(st.data())
    @settings(max_examples=60)
    def store_and_read(data):
        screen = data.draw(screens())
        first, second = data.draw(answers_to(screen)), data.draw(answers_to(screen))
        with transaction.atomic():
            task, leased = leased_screen(study, screen)
            asked = screen_questions(task)
            assert (asked.kind, asked.refs, asked.regions_required) == (
                screen.kind,
                screen.refs,
                screen.regions_required,
            )
            for answer in (first, second):
                saved = submit(sent(leased, answer))
                stored = Annotation.objects.get(pk=saved.annotation_id)
                assert answer_of(stored).questions.as_json(screen.kind) == answer
            assert saved.revision == 1 + (first != second)
            transaction.set_rollback(True)

    store_and_read()


def test_an_answer_is_stored_over_http_and_shown_for_correction(post, campaign):
    anna = new_annotator(campaign)
    task = post(anna, f"campaigns/{campaign.pk}/next").json()
    answer = ANSWERS[campaign.kind]
    body = {"submission_id": str(uuid.uuid4()), "answer": answer, "active_seconds": 0}
    saved = post(anna, f"assignments/{task['assignment']}/submit", body).json()
    assert (saved["status"], saved["revision"]) == ("accepted", 1)
    assert saved["next"]["assignment"] != task["assignment"]
    assert (
        post(anna, f"assignments/{task['assignment']}/submit", body).json()["annotation"]
        == saved["annotation"]
    )
    assert read_back(saved["annotation"]) == answer
    assignment = Assignment.objects.get(public_id=task["assignment"])
    assert assignment.state == "submitted"
    assert task_payload(assignment)["answer"] == answer


def test_judgements_have_the_columns_that_measures_read(study, images):
    """The columns by which measures and releases read answers."""
    for kind in EXAMPLES:
        campaign = question_campaign(study, kind)
        leased = next_assignment(campaign=campaign, annotator=new_annotator(campaign))
        submit(sent(leased, ANSWERS[kind.key]))
    columns = ("question", "stimulus__position", "present", "rating", "code", "rank", "text")
    rows = Judgement.objects.filter(attribute=None).order_by("pk").values_list(*columns)
    assert list(rows) == [
        ("fitting", None, None, 2, None, None, None),
        ("missing", None, None, None, "w0", None, None),
        ("missing", None, None, None, "w2", None, None),
        ("faults", None, None, None, "hands", None, None),
        ("why", None, None, None, None, None, "No kite."),
        ("better", 1, True, None, None, None, None),
        ("reason", None, None, None, "shape", None, None),
        ("odd", 0, None, 1, None, None, None),
        ("odd", 1, None, 1, None, None, None),
        ("odd", 2, None, 3, None, None, None),
        ("oddity", 2, None, None, "large", None, None),
        ("order", 0, None, None, None, 1, None),
        ("order", 1, None, None, None, 2, None),
        ("order", 2, None, None, None, 3, None),
    ]
    box = Judgement.objects.get(question="fitting").boxes.get()
    assert (box.x, box.y, box.width, box.height) == (0.1, 0.2, 0.3, 0.4)
    point = Judgement.objects.get(question="odd", stimulus__position=2).points.get()
    assert (point.x, point.y) == (0.1, 0.2)


def test_a_changed_answer_is_a_revision_and_an_equal_one_is_not(study, images):
    campaign = question_campaign(study, PAIRWISE)
    leased = next_assignment(campaign=campaign, annotator=new_annotator(campaign))
    first = submit(sent(leased, {"answers": {"better": "s1", "reason": "colour"}, "regions": {}}))
    again = submit(sent(leased, {"answers": {"reason": "colour", "better": "s1"}}))
    assert (again.annotation_id, again.revision) == (first.annotation_id, 1)
    corrected = submit(sent(leased, {"answers": {"better": "tie"}}))
    assert corrected.revision == 2
    assert read_back(corrected.annotation_id) == {"answers": {"better": "tie"}, "regions": {}}
    assert read_back(first.annotation_id)["answers"] == {"better": "s1", "reason": "colour"}
    latest = Annotation.objects.get(is_latest=True)
    assert (latest.pk, latest.status) == (corrected.annotation_id, "accepted")


def test_a_wrong_answer_stores_nothing(study, images):
    campaign = question_campaign(study, RUBRIC)
    leased = next_assignment(campaign=campaign, annotator=new_annotator(campaign))
    with pytest.raises(DomainError) as error:
        submit(sent(leased, {"answers": RUBRIC_ANSWER | {"fitting": 9}}))
    assert list(error.value.fields) == ["answer.answers.fitting"]
    assert not Annotation.objects.exists()
    leased.refresh_from_db()
    assert leased.state == "leased"


def test_both_ways_to_build_the_payload_agree(campaign):
    leased = next_assignment(campaign=campaign, annotator=new_annotator(campaign))
    assert leased_payload(leased, campaign) == task_payload(Assignment.objects.get(pk=leased.pk))


def test_a_submission_needs_few_statements(campaign):
    anna = new_annotator(campaign)
    leased = next_assignment(campaign=campaign, annotator=anna)
    for at_most in (None, 15 if connection.vendor == "sqlite" else 12):
        with CaptureQueriesContext(connection) as statements:
            answer = ANSWERS[campaign.kind]
            saved = submit_and_next(SentAnswer(anna.user_id, leased.public_id, uuid.uuid4(), answer))
            leased_payload(saved.following, campaign)
        leased = saved.following
        # In the first round, the process also reads the campaign, which it then caches.
        assert at_most is None or len(statements) <= at_most, [statement["sql"] for statement in statements]
