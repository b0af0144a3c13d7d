"""Planning a probe run: requests are counted before and written once."""

from collections import Counter
from decimal import Decimal

import pytest

from foundation.errors import DomainError
from generation.models import Answer, Image, ProbeRun
from generation.probing.estimates import estimate, estimate_words
from generation.probing.execution import run
from generation.probing.planning import finish_planning
from generation.probing.requests import RequestBuilder
from jobs.progress.reporter import Cancelled, Unwatched
from tests.generation.probing.probing_study import both_forms, plan_of, planned, words

pytestmark = pytest.mark.django_db


def test_every_image_is_asked_every_question_in_both_orders_and_all_runs(scenarios, lead):
    asked = planned(scenarios, lead)
    counts = Counter(asked.answers.values_list("question", "order"))
    assert counts == {("trade", "published"): 16, ("trade", "reversed"): 16, ("story", ""): 16}
    assert set(asked.answers.values_list("scenario", flat=True)) == {"bridge", "harbour"}
    assert (asked.runs, asked.orders, asked.questions["title"]) == (2, "both", "Lamps and kites")
    assert asked.parameters["temperature"] == 0.75
    assert asked.parameters["max_tokens"] == 40


def test_sentences_are_completed_for_each_descriptor_and_letter(study, lead):
    asked = planned(study, lead, probe_set=words())
    assert asked.answers.count() == study.groups.count() * 3 * 3
    assert set(asked.answers.values_list("letter", flat=True)) == set("abc")


def test_a_descriptor_is_asked_once_in_each_of_its_forms(study, lead):
    """One group has both forms, one only a plural; the plural of the others follows by rule."""
    first, second = study.groups.all()[:2]
    first.forms, first.dimensions = {"singular": "elder", "plural": "old folk"}, ["age", "trade"]
    second.forms = {"plural": "Velmari"}
    for group in (first, second):
        group.save()
    asked = planned(study, lead, probe_set=both_forms())
    counts = Counter(asked.answers.values_list("descriptor__name", "question"))
    assert counts.pop((second.name, "plural")) == 9
    others = [group.name for group in study.groups.all() if group.pk != second.pk]
    assert counts == {(name, form): 9 for name in others for form in ("singular", "plural")}
    builder = RequestBuilder(asked, address="")
    prompts = {
        builder.build([row], paid=False).request.prompt
        for row in asked.answers.filter(letter="a", repeat=0).select_related("descriptor")
    }
    assert {"An elder is [a__].", "Old folk are [a__].", "Velmari are [a__]."} <= prompts


def test_the_same_plan_again_asks_nothing_more(scenarios, lead):
    first = planned(scenarios, lead)
    assert planned(scenarios, lead) == first
    assert Answer.objects.count() == 48


def test_more_runs_add_what_is_missing(scenarios, lead):
    planned(scenarios, lead)
    assert planned(scenarios, lead, runs=3).runs == 3
    assert Answer.objects.count() == 72


@pytest.mark.parametrize(
    "change",
    [{"parameters": {"temperature": 0}}, {"model_label": "other"}, {"orders": "published"}, {"fresh": True}],
)
def test_other_questions_to_the_model_are_another_run(scenarios, lead, change):
    assert planned(scenarios, lead) != planned(scenarios, lead, **change)


def test_retracted_images_are_not_asked_about(scenarios, lead):
    Image.objects.filter(pk=Image.objects.first().pk).update(retracted_at="2026-01-01T00:00:00Z")
    assert planned(scenarios, lead).answers.count() == 42


def test_a_study_without_images_of_the_scenarios_is_refused(study, lead):
    with pytest.raises(DomainError, match="has no images of the scenarios of this probe set"):
        planned(study, lead)
    assert not ProbeRun.objects.exists()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"runs": 0}, "1 to 100 times, not 0"),
        ({"samples_per_request": 3}, "1 to 2 answers"),
        ({"price_in": Decimal(1)}, "Enter both prices"),
        ({"budget": Decimal(1)}, "A budget needs the price"),
        ({"price_in": Decimal(-1), "price_out": Decimal(1)}, "The price in must be from 0 to 100,000"),
        ({"backend": "painter"}, "There is no answerer “painter”"),
        ({"parameters": {"temperature": 3}}, "temperature must be a number from 0 to 2"),
        ({"parameters": {"warmth": 3}}, "has no parameter “warmth”"),
    ],
)
def test_impossible_plans_are_refused_in_one_sentence(scenarios, lead, wrong, sentence):
    with pytest.raises(DomainError) as refused:
        planned(scenarios, lead, **wrong)
    assert sentence in refused.value.message
    assert not ProbeRun.objects.exists()


def test_the_job_writes_many_requests_and_continues_after_a_kill(scenarios, lead, monkeypatch):
    monkeypatch.setattr("generation.probing.planning.AT_ONCE", 10)
    monkeypatch.setattr("generation.probing.request_plan._PIECE", 20)
    asked = planned(scenarios, lead)
    assert asked.to_write
    assert not asked.answers.exists()

    class Killed(Unwatched):
        pieces = 0

        def check_cancelled(self):
            Killed.pieces += 1
            if Killed.pieces == 2:
                raise Cancelled

    with pytest.raises(Cancelled):
        finish_planning(run=asked, progress=Killed())
    assert asked.answers.count() == 20
    assert run(run=asked, progress=Unwatched()).left == 0
    assert asked.answers.count() == 48
    assert not ProbeRun.objects.get().to_write


def test_counts_are_shown_before_anything_is_asked(scenarios, lead):
    plan = plan_of(scenarios, price_in=Decimal(1), price_out=Decimal(2), budget=Decimal("0.01"))
    counted = estimate(plan)
    assert (counted.answers, counted.to_ask, counted.requests) == (48, 48, 48)
    assert [(part.kind, part.requests) for part in counted.parts] == [("choice", 32), ("open", 16)]
    assert counted.tokens_out == 48 * 40
    assert counted.beyond_budget
    assert not ProbeRun.objects.exists()
    lines = estimate_words(counted).splitlines()
    assert lines[0] == "48 answers, 48 still to ask in 48 requests."
    assert lines[-1] == "The budget of 0.01 does not cover all requests."


def test_several_answers_in_a_request_make_fewer_requests(scenarios, lead):
    assert estimate(plan_of(scenarios, samples_per_request=2)).requests == 24


def test_answered_requests_are_measured_and_not_counted_again(scenarios, lead):
    run(run=planned(scenarios, lead), progress=Unwatched(), limit=30)
    counted = estimate(plan_of(scenarios))
    assert (counted.answers, counted.to_ask, counted.measured) == (48, 18, True)
    assert counted.seconds is not None
