"""The payload of a kind of questions, on pages and over HTTP, in the annotator's language."""

import uuid

import pytest
from django.urls import reverse
from django.utils import translation

from annotation.annotator.payload import task_payload
from annotation.assignment.leases import next_assignment
from annotation.models import Assignment
from tests.annotation.answers.questions.test_storage import ANSWERS
from tests.annotation.kinds.examples import EXAMPLES, PAIRWISE, RANKING, RUBRIC, question_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def pairs(study, pictures):
    return question_campaign(study, PAIRWISE)


def shown(client, campaign, language="en"):
    assignment = next_assignment(campaign=campaign, annotator=client.enrolment.annotator)
    with translation.override(language):
        return task_payload(assignment)


def submit(client, task, answer):
    body = {"submission_id": str(uuid.uuid4()), "answer": answer}
    return client.post(
        f"/api/v1/assignments/{task['assignment']}/submit", body, content_type="application/json"
    )


def test_a_pair_is_shown_side_by_side_with_its_questions(join, pairs):
    task = shown(join(pairs), pairs)
    assert (task["kind"], task["layout"], task["prompt"], task["answer"]) == (
        "public_pairwise",
        "side_by_side",
        None,
        None,
    )
    assert [stimulus["ref"] for stimulus in task["stimuli"]] == ["s1", "s2"]
    assert all(stimulus["image"]["url"].startswith("/images/") for stimulus in task["stimuli"])
    assert task["questions"] == [
        {
            "name": "better",
            "type": "compare",
            "label": "Which is better?",
            "required": True,
            "each": False,
            "when": None,
            "region": None,
            "tie": "Equally good",
        },
        {
            "name": "reason",
            "type": "choice",
            "label": "Which reason?",
            "required": True,
            "each": False,
            # A condition names the better one as an answer does.
            "when": {"question": "better", "answers": ["s1", "s2"]},
            "region": None,
            "answers": [
                {"code": "colour", "label": "colour", "alone": False},
                {"code": "shape", "label": "shape", "alone": False},
            ],
            "several": False,
        },
    ]


def test_a_prompt_is_shown_beside_its_image_and_its_words_can_be_marked(join, study, pictures):
    campaign = question_campaign(study, RUBRIC)
    task = shown(join(campaign), campaign)
    assert (task["layout"], task["prompt"]) == ("one", "a kite over a drum")
    assert [stimulus["ref"] for stimulus in task["stimuli"]] == ["s1"]
    questions = {question["name"]: question for question in task["questions"]}
    assert questions["missing"]["none"] == "None"
    assert questions["why"]["longest"] == 200
    assert questions["fitting"]["region"] == {"shape": "box", "required": False, "after": [1, 2]}
    assert questions["fitting"]["points"][0] == {"code": 1, "label": "fitting 1", "apart": False}


@pytest.mark.parametrize("required", [True, False])
def test_the_lead_decides_whether_places_are_required_where_the_kind_allows(join, study, pictures, required):
    campaign = question_campaign(study, RANKING)
    campaign.boxes_required = required
    campaign.save()
    odd = shown(join(campaign), campaign)["questions"][0]
    assert odd["region"] == {"shape": "point", "required": required, "after": [3]}


def test_labels_are_in_the_language_of_the_page(join, pairs):
    questions = shown(join(pairs), pairs, "de")["questions"]
    assert questions[0]["label"] == "Which is better? (de)"
    assert questions[0]["tie"] == "Equally good (de)"
    assert questions[1]["answers"][0] == {"code": "colour", "label": "colour (de)", "alone": False}


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: kind.key)
def test_recent_answers_are_listed_in_words_and_corrected(join, study, pictures, kind):
    campaign = question_campaign(study, kind)
    client = join(campaign)
    task = shown(client, campaign)
    assert submit(client, task, ANSWERS[kind.key]).status_code == 200
    page = client.get(reverse("annotate:answers", args=[campaign.pk]))
    (answer,) = page.context["answers"]
    expected = {
        "rubric": [
            ("How fitting?", "fitting 2"),
            ("Which words?", "a, over"),
            ("Which faults?", "hands"),
            ("Why?", "No kite."),
        ],
        "pairwise": [("Which is better?", "Picture 2"), ("Which reason?", "shape")],
        "ranking": [
            ("How odd?", "Picture 1: odd 1, Picture 2: odd 1, Picture 3: odd 3"),
            ("Which oddity?", "Picture 3: large"),
            ("In which order?", "Picture 1: place 1, Picture 2: place 2, Picture 3: place 3"),
        ],
    }
    assert [tuple(line) for line in answer.answered] == expected[kind.key]
    assert expected[kind.key][-1][1] in page.content.decode()
    assert task_payload(Assignment.objects.get(public_id=task["assignment"]))["answer"] == ANSWERS[kind.key]


def test_a_tie_and_no_word_are_listed_by_their_labels(join, study, pictures):
    for kind, answers, expected in (
        (PAIRWISE, {"better": "tie"}, "Equally good"),
        (RUBRIC, {"fitting": 4, "missing": [], "faults": ["none"]}, "None"),
    ):
        campaign = question_campaign(study, kind)
        client = join(campaign)
        submit(client, shown(client, campaign), {"answers": answers})
        (answer,) = client.get(reverse("annotate:answers", args=[campaign.pk])).context["answers"]
        assert expected in [line.answer for line in answer.answered]


def test_the_list_takes_the_same_queries_however_many_answers(
    join, study, pictures, django_assert_max_num_queries
):
    campaign = question_campaign(study, PAIRWISE, screens=5)
    client = join(campaign)
    for _ in range(4):
        submit(client, shown(client, campaign), ANSWERS["pairwise"])
    with django_assert_max_num_queries(16):
        client.get(reverse("annotate:answers", args=[campaign.pk]))


def test_the_look_ahead_names_all_pictures_of_the_next_screen(join, pairs):
    client = join(pairs)
    named = None
    for _ in range(3):
        task = shown(client, pairs)
        assert named is None or [stimulus["image"]["url"] for stimulus in task["stimuli"]] == named
        named = client.get(reverse("annotate:ahead", args=[pairs.pk])).json()["images"]
        submit(client, task, ANSWERS["pairwise"])
    assert named == []


def test_a_wrong_answer_is_refused_over_http_by_the_name_of_its_question(join, pairs):
    client = join(pairs)
    refused = submit(client, shown(client, pairs), {"answers": {"better": "s9"}})
    assert refused.status_code == 400
    error = refused.json()["error"]
    assert (error["code"], list(error["fields"])) == ("answer_invalid", ["answer.answers.better"])
