"""A scenario is kept if more than half of the annotators find its images alike, or nearly."""

import pytest

from accounts.models import User
from annotation.answers.questions.scenario_verdicts import scenario_verdicts
from annotation.campaigns.images.retraction import retract
from annotation.kinds.built_in import pair_check
from annotation.kinds.registry import KINDS, likeness_question
from annotation.models import Annotation
from annotation.people import withdrawal
from studies.models import Study
from tests.annotation.campaigns.images.scenarios import (
    ALIKE,
    DIFFERENT,
    SMALL,
    answer,
    lamps_study,
    opened_check,
)
from tests.annotation.factories import add_prompted_images, new_annotator
from tests.annotation.labelling.production_paths import ByVerbs
from tests.studies.isles import new_lead

pytestmark = pytest.mark.django_db


def write_rows(folder):
    lamps_study(folder, new_lead())


@pytest.fixture
def lead(shared_rows, db) -> User:
    return User.objects.get(username="lena")


@pytest.fixture
def lamps(lead) -> Study:
    return Study.objects.get(name="Lamps")


def verdicts(study):
    return {place.scenario: str(found.verdict) for place, found in (scenario_verdicts(study) or {}).items()}


@pytest.mark.parametrize(
    ("wanted", "answers", "verdict"),
    [
        (3, [ALIKE, SMALL, DIFFERENT], "kept"),
        (3, [SMALL, SMALL], "kept"),
        (3, [ALIKE, DIFFERENT, DIFFERENT], "failed"),
        (3, [DIFFERENT, DIFFERENT], "failed"),
        (3, [ALIKE, DIFFERENT], "open"),
        (3, [ALIKE], "open"),
        (2, [ALIKE, DIFFERENT], "failed"),
        (2, [ALIKE], "open"),
        (5, [ALIKE, ALIKE, SMALL, DIFFERENT], "kept"),
        (5, [ALIKE, ALIKE, DIFFERENT, DIFFERENT], "open"),
        (5, [ALIKE, ALIKE, DIFFERENT, DIFFERENT, DIFFERENT], "failed"),
        (1, [SMALL], "kept"),
    ],
)
def test_more_than_half_of_the_annotators_decide(lamps, lead, wanted, answers, verdict):
    campaign = opened_check(lamps, lead, annotators_per_task=wanted)
    answer(campaign, {"bridge": answers, "harbour": answers})
    assert verdicts(lamps) == {"bridge": verdict, "harbour": verdict}


def test_without_an_opened_check_there_are_no_verdicts(lamps, lead):
    assert scenario_verdicts(lamps) is None
    campaign = opened_check(lamps, lead)
    assert verdicts(lamps) == {"bridge": "open", "harbour": "open"}
    (found,) = set(scenario_verdicts(lamps).values())
    assert (found.alike, found.small_differences, found.different) == (0, 0, 0)
    assert campaign.tasks.count() == 2


def test_scenarios_are_judged_separately(lamps, lead):
    answer(opened_check(lamps, lead), {"bridge": [ALIKE, ALIKE, ALIKE], "harbour": [DIFFERENT] * 3})
    assert verdicts(lamps) == {"bridge": "kept", "harbour": "failed"}


def test_a_scenario_on_several_screens_needs_all_of_them(study, lead):
    for name in ("hill", "harbour", "river"):
        study.groups.create(name=name, display_name=name)
    add_prompted_images(study, ["a {id} cook"], models=("north",))
    campaign = opened_check(study, lead, annotators_per_task=1)
    assert campaign.tasks.count() == 5  # four of five groups
    person = new_annotator(campaign)
    answers = iter([ALIKE, ALIKE, ALIKE, ALIKE, DIFFERENT])
    seen = []
    while (leased := ByVerbs().next_task(campaign, person)) is not None:
        ByVerbs().submit(leased, by=person, answer={"answers": next(answers)})
        (found,) = scenario_verdicts(study).values()
        seen.append(str(found.verdict))
    assert seen == ["open", "open", "open", "open", "failed"]
    assert (found.alike, found.different) == (4, 1)


def test_answers_that_no_longer_count_decide_nothing(lamps, lead):
    answer(opened_check(lamps, lead), {"bridge": [ALIKE, ALIKE, DIFFERENT], "harbour": [ALIKE] * 3})
    person = Annotation.objects.order_by("pk").first().annotator
    withdrawal.withdraw(annotator=person, study=lamps)
    assert verdicts(lamps)["bridge"] == "open"


def test_a_screen_with_a_retracted_image_no_longer_counts(lamps, lead):
    answer(opened_check(lamps, lead), {"bridge": [ALIKE] * 3, "harbour": [ALIKE] * 3})
    retract(image=lamps.images.filter(scenario="bridge").first(), by=lead, reason="Odd.")
    assert verdicts(lamps) == {"harbour": "kept"}


def test_the_newest_campaign_that_decided_counts(lamps, lead):
    answer(opened_check(lamps, lead), {"bridge": [DIFFERENT] * 3, "harbour": [ALIKE] * 3})
    again = opened_check(lamps, lead, name="Again", options={"scenarios": "all"})
    assert verdicts(lamps) == {"bridge": "failed", "harbour": "kept"}
    answer(again, {"bridge": [ALIKE] * 3, "harbour": [DIFFERENT] * 3})
    assert verdicts(lamps) == {"bridge": "kept", "harbour": "failed"}


def test_any_kind_with_these_answers_about_scenarios_is_a_check():
    assert [key for key, kind in KINDS.items() if likeness_question(kind)] == [pair_check.KIND.key]
    renamed = pair_check.KIND.model_copy(update={"key": "own"})
    assert likeness_question(renamed) == "alike"
    by_prompt = pair_check.KIND.stimuli.model_copy(update={"together": ("prompt",)})
    assert likeness_question(pair_check.KIND.model_copy(update={"stimuli": by_prompt})) is None


def test_queries_do_not_grow_with_answers(lamps, lead, django_assert_num_queries):
    campaign = opened_check(lamps, lead)
    with django_assert_num_queries(3) as before:
        scenario_verdicts(lamps)
    answer(campaign, {"bridge": [ALIKE] * 3, "harbour": [ALIKE] * 3})
    with django_assert_num_queries(len(before)):
        scenario_verdicts(lamps)
