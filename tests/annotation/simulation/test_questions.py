"""Simulated annotators answer declared questions from a planted truth, over HTTP, the same for the same seed."""

import math
from collections import Counter
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import translation

from annotation.annotator.questions import questions_payload
from annotation.campaigns import lifecycle
from annotation.campaigns.clone import clone
from annotation.kinds.registry import KINDS
from annotation.models import Annotation, Judgement
from annotation.simulation.questions import QuestionTruth, ScreenAnswers, ShownItem
from annotation.simulation.simulate import simulate
from tests.annotation.databases import shared_database
from tests.annotation.factories import add_prompted_images, options_for

OF_QUESTIONS = [key for key, kind in KINDS.items() if not kind.about_attributes]
TRUTH = QuestionTruth(seed=5)
ITEMS = [ShownItem(f"image {model}", model, "Velmari") for model in ("north", "south", "east")]


def questions_of(kind):
    stimuli = [{"ref": f"s{number}"} for number in (1, 2, 3)]
    with translation.override("en"):
        return questions_payload(KINDS[kind], stimuli, regions_required=True)["questions"]


def drawn(kind, truth, *, number=4_000, count=1, text="a tall hat and a drum"):
    """Return many answers to one screen of so many items."""
    questions = questions_of(kind)
    items = {f"s{place}": item for place, item in enumerate(ITEMS[:count], start=1)}
    return [
        ScreenAnswers(truth, items, text, truth.generator("annotator", turn)).answer(questions)
        for turn in range(number)
    ]


def test_comparisons_follow_davidsons_model():
    truth = QuestionTruth(seed=5, ties=0.6, position_bias=0.4)
    counts = Counter(answer["answers"]["overall"] for answer in drawn("pairwise", truth, count=2))
    first = math.exp(truth.strength("overall", ITEMS[0]) + 0.4)
    second = math.exp(truth.strength("overall", ITEMS[1]))
    tie = 0.6 * math.sqrt(first * second)
    total = first + second + tie
    for code, weight in (("s1", first), ("s2", second), ("tie", tie)):
        assert counts[code] / 4_000 == pytest.approx(weight / total, abs=0.03)


def test_rankings_follow_the_plackett_luce_model_and_ties_share_a_place():
    truth = QuestionTruth(seed=5, ties=0.0)
    ranks = [answer["answers"]["order"] for answer in drawn("ranking", truth, count=3)]
    weights = [math.exp(truth.strength("order", item)) for item in ITEMS]
    for place, weight in enumerate(weights, start=1):
        share = sum(order[f"s{place}"] == 1 for order in ranks) / len(ranks)
        assert share == pytest.approx(weight / sum(weights), abs=0.03)
    assert all(sorted(order.values()) == [1, 2, 3] for order in ranks)
    tied = [
        answer["answers"]["order"]
        for answer in drawn("ranking", QuestionTruth(seed=5, ties=2.0), number=200, count=3)
    ]
    shapes = {tuple(sorted(order.values())) for order in tied}
    assert shapes == {(1, 2, 3), (1, 1, 3), (1, 2, 2), (1, 1, 1)}


def test_points_of_a_scale_lie_around_the_planted_strength():
    truth = QuestionTruth(seed=5, spread=0.5, noise=0.5)
    points = [answer["answers"]["appeal"] for answer in drawn("rubric", truth)]
    strength = truth.strength("appeal", ITEMS[0])
    assert abs(strength) < 1.5  # far from the ends, which cut answers off
    assert sum(points) / len(points) == pytest.approx(3 + strength, abs=0.05)


def test_a_reason_is_written_only_where_it_is_asked():
    answers = [answer["answers"] for answer in drawn("rubric", QuestionTruth(seed=5, noise=2.0), number=200)]
    assert {answer["favour"] <= 2 for answer in answers} == {True, False}
    assert all(("reason" in answer) == (answer["favour"] <= 2) for answer in answers)
    assert all(answer["harms"] == ["none"] or "none" not in answer["harms"] for answer in answers)


def test_faults_have_points_and_most_people_miss_the_same_words():
    answers = drawn("image_text", TRUTH, number=300)
    for answer in answers:
        has_fault = answer["answers"]["faults"] != "none"
        assert bool(answer["regions"].get("faults")) == has_fault
    marked = Counter(place for answer in answers for place in answer["answers"]["missing"])
    for place in range(6):
        missed = TRUTH.misses(ITEMS[0], place)
        assert marked[place] / 300 == pytest.approx(0.9 if missed else 0.1, abs=0.06)


@pytest.fixture
def simulated(transactional_db, tmp_path, study):
    type(study).objects.filter(pk=study.pk).update(simulated=True)
    study.refresh_from_db()
    add_prompted_images(study, ["a {id} house by the sea"], models=("north", "south", "east"))
    with shared_database(tmp_path):
        yield study


def test_simulated_annotators_answer_every_kind_of_question_over_http(simulated, lead):
    for kind in OF_QUESTIONS:
        draft = lifecycle.create(
            study=simulated,
            name=kind,
            kind=kind,
            by=lead,
            annotators_per_task=2,
            options=options_for(KINDS[kind]),
        )
        campaign = lifecycle.open_(campaign=draft, by=lead)
        summary = simulate(campaign=campaign, annotators=2, seed=1)
        assert summary.submissions == campaign.tasks.count() * 2
        accepted = Annotation.objects.filter(campaign=campaign, status="accepted")
        assert accepted.count() == summary.submissions
        always = {question.name for question in KINDS[kind].questions if question.when is None}
        assert always <= set(
            Judgement.objects.filter(annotation__in=accepted).values_list("question", flat=True)
        )


def test_the_same_seed_gives_the_same_answers_and_the_truth_is_printed(simulated, lead):
    draft = lifecycle.create(study=simulated, name="Pairs", kind="pairwise", by=lead)
    copy = clone(campaign=draft, by=lead, same_draw=True)
    printed = StringIO()
    answers = []
    for campaign in (lifecycle.open_(campaign=draft, by=lead), lifecycle.open_(campaign=copy, by=lead)):
        options = {"annotators": 3, "seed": 2, "position_bias": 0.5}
        call_command(
            "simulate_annotators", campaign=campaign.pk, stdout=printed, stderr=StringIO(), **options
        )
        judgements = Judgement.objects.filter(annotation__campaign=campaign)
        answers.append(
            set(
                judgements.values_list(
                    "annotation__annotator",
                    "annotation__task__stimuli__image__sha256",
                    *("question", "stimulus__position", "code"),
                )
            )
        )
    assert answers[0] == answers[1] != set()
    truth = QuestionTruth(seed=draft.seed)
    assert f"north {truth.of_model('overall', 'north'):+.2f}" in printed.getvalue()
    assert "Planted for overall, groups: Orsani" in printed.getvalue()
