"""People review answers of models: two independently, a third where they disagree."""

import json
from collections import Counter

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.annotator.payload import task_payload
from annotation.answers.questions import answer_review
from annotation.answers.questions.answer_review import adjudicated, collect
from annotation.campaigns import lifecycle
from annotation.campaigns.planning import task_plan
from annotation.models import ReviewedCoding, Task, TaskStimulus
from annotation.people import withdrawal
from foundation.errors import DomainError
from generation.models import Answer, Coding
from generation.probing.codings import code_by_rules, counted_codings
from generation.probing.execution import run
from jobs.progress.reporter import Unwatched
from tests.annotation.factories import new_annotator
from tests.annotation.labelling.production_paths import ByVerbs
from tests.generation.probing.probing_study import add_scenarios, planned

pytestmark = pytest.mark.django_db
ONLY_UNSURE = {"sure_share": 0, "sure_least": 0}


@pytest.fixture
def coded(study, lead):
    """A study in which a model answered 32 choices, four of them so that the rules are uncertain."""
    add_scenarios(study)
    probe = planned(study, lead, parameters={"refusal_rate": 0})
    run(run=probe, progress=Unwatched())
    Answer.objects.filter(question="trade").update(text="A lamplighter.")
    for number, answer in enumerate(Answer.objects.filter(question="trade", repeat=0).order_by("pk")[:4]):
        answer.text = f"<b>Not</b> a kite maker {number}; a lamplighter."
        answer.save(update_fields=["text"])
    code_by_rules(study=study, by=None, progress=Unwatched())
    assert Coding.objects.filter(sure=False).count() == 4
    return study


def review(study, lead, **options):
    draft = lifecycle.create(
        study=study,
        name="Review",
        kind="answer_coding",
        by=lead,
        annotators_per_task=2,
        options={"texts_from": "answers", **options},
    )
    return lifecycle.open_(campaign=draft, by=lead)


def answer_all(campaign, annotator, code, commits):
    """Have somebody give the same code to every screen offered to them; return the number of screens."""
    number = 0
    while (leased := ByVerbs().next_task(campaign, annotator)) is not None:
        with commits(execute=True):
            ByVerbs().submit(leased, by=annotator, answer={"answers": {"code": code}})
        number += 1
    return number


def test_all_unsure_and_a_share_of_the_sure_answers_are_read_again(coded, lead):
    sure = Coding.objects.filter(sure=True).count()
    campaign = review(coded, lead, sure_share=0.25, sure_least=3)
    assert ReviewedCoding.objects.filter(coding__sure=False).count() == 4
    assert ReviewedCoding.objects.filter(coding__sure=True).count() == sure / 4
    draft = lifecycle.create(
        study=coded, name="All", kind="answer_coding", by=lead, options={"texts_from": "answers"}
    )
    drawn = {review.coding_id for task in task_plan.plan(draft).tasks for review in task.stimuli[0].reviews}
    assert len(drawn) == 32  # fewer than 100 are certain, so all are drawn
    assert campaign.tasks.count() < ReviewedCoding.objects.count()  # identical texts are read once


def test_the_draw_does_not_depend_on_the_order_of_rows(coded, lead):
    def content():
        draft = lifecycle.create(
            study=coded, name="Again", kind="answer_coding", by=lead,
            options={"texts_from": "answers", "sure_share": 0, "sure_least": 5},
        )  # fmt: skip
        keys = [
            review.coding_id for task in task_plan.plan(draft).tasks for review in task.stimuli[0].reviews
        ]
        lifecycle.delete_draft(campaign=draft, by=lead)
        answers = Answer.objects.filter(codings__in=keys)
        return set(
            answers.values_list("experiment", "question", "image__group__name", "scenario", "order", "repeat")
        )

    before = content()
    codings = list(Coding.objects.order_by("-pk"))
    Coding.objects.all().delete()
    for coding in codings:
        coding.pk = None
        coding.save(force_insert=True)
    assert content() == before


def test_annotators_see_only_the_original_question_and_the_answer(coded, lead):
    campaign = review(coded, lead)
    annotator = new_annotator(campaign)
    hidden = {"orsani", "velmari", "tall", "short", "bridge", "harbour", "trades", "plus", "minus", "script"}
    hidden |= {"negated", "commitment", "sure", "image", "lookup", ".png", "reversed", "published"}
    texts = set()
    for _ in range(campaign.tasks.count()):
        leased = ByVerbs().next_task(campaign, annotator)
        payload = task_payload(leased)
        del payload["instrument"]  # guidelines, the same on each screen
        sent = json.dumps(payload).casefold().encode()
        assert not [word for word in hidden if word.encode() in sent]
        texts.add(payload["stimuli"][0]["text"])
        ByVerbs().submit(leased, by=annotator, answer={"answers": {"code": "other"}})
    asked = "Is this person a {} or a {}? Choose only one."
    orders = {asked.format("lamplighter", "kite maker"), asked.format("kite maker", "lamplighter")}
    assert {text.split("\n\n")[0] for text in texts} == {f"Question: {question}" for question in orders}


def test_options_keep_the_order_of_the_original_question(coded, lead, django_capture_on_commit_callbacks):
    campaign = review(coded, lead)
    for _ in range(2):
        answer_all(campaign, new_annotator(campaign), "first", django_capture_on_commit_callbacks)
    people = adjudicated(coded)
    by_order = {(answer.order, people[answer.pk]) for answer in Answer.objects.filter(question="trade")}
    assert by_order == {("published", "plus"), ("reversed", "minus")}
    codings = Coding.objects.filter(coder="person")
    assert set(codings.values_list("code", flat=True)) == {1, -1}
    assert len(set(codings.values_list("version", flat=True))) == 2
    assert all(version.startswith("A-") for version in codings.values_list("version", flat=True))


def test_a_third_person_decides_where_two_disagree(coded, lead, django_capture_on_commit_callbacks):
    campaign = review(coded, lead, **ONLY_UNSURE)
    screens = campaign.tasks.count()
    first, second, third = (new_annotator(campaign) for _ in range(3))
    assert answer_all(campaign, first, "both", django_capture_on_commit_callbacks) == screens
    assert adjudicated(coded) == {}
    leased = ByVerbs().next_task(campaign, second)
    with django_capture_on_commit_callbacks(execute=True):
        ByVerbs().submit(leased, by=second, answer={"answers": {"code": "both"}})
    answer_all(campaign, second, "refused", django_capture_on_commit_callbacks)
    assert sorted(campaign.tasks.values_list("wanted", flat=True)) == [2] + [3] * (screens - 1)
    assert list(adjudicated(coded).values()) == ["both"]
    assert answer_all(campaign, third, "other", django_capture_on_commit_callbacks) == screens - 1
    assert sorted(adjudicated(coded).values()) == ["both"] + ["other"] * 3


def coders_that_count(study):
    """Return the coders whose codings count on the pages of answers, with the number of answers."""
    answers = Answer.objects.filter(run__study=study, question="trade")
    return Counter(coding.coder for coding in counted_codings(answers).values())


def test_pages_show_what_analyses_count(coded, lead, django_capture_on_commit_callbacks):
    campaign = review(coded, lead, **ONLY_UNSURE)
    for code in ("both", "refused", "other"):
        answer_all(campaign, new_annotator(campaign), code, django_capture_on_commit_callbacks)
    people = adjudicated(coded)
    codings = counted_codings(Answer.objects.filter(question="trade"))
    assert len(people) == 4
    assert {key: codings[key].outcome for key in people} == people


def test_codings_are_collected_once_and_removed_at_a_withdrawal(
    coded, lead, django_capture_on_commit_callbacks
):
    campaign = review(coded, lead, **ONLY_UNSURE)
    people = [new_annotator(campaign) for _ in range(2)]
    for person in people:
        answer_all(campaign, person, "second", django_capture_on_commit_callbacks)
    kept = Coding.objects.filter(coder="person").count()
    assert kept == 8
    assert collect(study=coded) == 0
    Coding.objects.filter(coder="person").delete()
    assert adjudicated(coded) == {}
    assert collect(study=coded) == kept
    assert len(adjudicated(coded)) == 4
    assert coders_that_count(coded) == {"person": 4, "rules": 28}
    for person in people:
        withdrawal.withdraw(annotator=person, study=coded)
    assert adjudicated(coded) == {}
    assert coders_that_count(coded) == {"rules": 32}


def test_a_correction_replaces_the_earlier_coding(coded, lead, django_capture_on_commit_callbacks):
    campaign = review(coded, lead, **ONLY_UNSURE)
    first, second = (new_annotator(campaign) for _ in range(2))
    answer_all(campaign, first, "both", django_capture_on_commit_callbacks)
    answer_all(campaign, second, "both", django_capture_on_commit_callbacks)
    for person in (first, second):
        for assignment in person.assignments.all():
            with django_capture_on_commit_callbacks(execute=True):
                ByVerbs().submit(assignment, by=person, answer={"answers": {"code": "refused"}})
    assert set(adjudicated(coded).values()) == {"refused"}


def test_a_text_is_deleted_only_with_its_study(coded, lead):
    review(coded, lead)
    assert not Task.objects.filter(stimuli__image__isnull=False).exists()
    assert TaskStimulus.objects.filter(text__startswith="Question: Is this").count() == Task.objects.count()
    assert answer_review.reviews_of(coded).count() == 1


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("bias_level", {"texts_from": "answers"}),
        ("bias_level", {"texts": ["A text."], "sure_share": 0.1}),
        ("answer_coding", {"texts_from": "answers", "texts": ["A text."]}),
    ],
)
def test_only_kinds_that_code_answers_show_them(coded, lead, kind, options):
    with pytest.raises(DomainError) as refusal:
        lifecycle.create(study=coded, name="Wrong", kind=kind, by=lead, options=options)
    assert refusal.value.code == "options_invalid"


def test_a_lead_finds_the_review_among_the_campaigns(coded, lead, lead_client):
    page = lead_client.get(reverse("annotation:campaigns", args=[coded.slug]))
    address = f"{reverse('annotation:campaign_new', args=[coded.slug])}?kind=answer_coding"
    assert f'href="{address}"' in page.content.decode()
    form = lead_client.get(address).context["form"]
    sent = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
    sent = {name: value for name, value in sent.items() if value is not None} | {
        "sure_least": 2,
        "sure_share": 0,
    }
    posted = lead_client.post(address, sent | {"kind": "answer_coding", "action": "save"})
    assert posted.status_code == 302, posted.context["form"].errors
    draft = coded.campaigns.get()
    assert (draft.annotators_per_task, draft.options["texts_from"]) == (2, "answers")
    drawn = [review for task in task_plan.plan(draft).tasks for review in task.stimuli[0].reviews]
    assert len(drawn) == 6


def test_without_coded_answers_there_is_nothing_to_ask(study, lead):
    with pytest.raises(DomainError, match="Code the answers with “code_answers”"):
        review(study, lead)


def test_newer_rules_replace_older_ones_in_a_draw(coded, lead):
    answer = Answer.objects.filter(codings__sure=False).earliest("pk")
    newer = Coding.objects.create(
        answer=answer, coder="rules", version="99", outcome="plus", code=1, sure=True,
        created_at=timezone.now(),
    )  # fmt: skip
    review(coded, lead, **ONLY_UNSURE)
    assert not ReviewedCoding.objects.filter(coding__answer=answer).exists()
    assert newer.reviews.count() == 0
