"""A screen shows the images of one scenario, each of a different group."""

import pytest

from annotation.answers.questions.validation import checked
from annotation.answers.questions.values import ScreenQuestions
from annotation.campaigns import lifecycle
from annotation.campaigns.planning import task_plan
from annotation.kinds.built_in.pair_check import KIND
from foundation.errors import DomainError
from generation.models import Image
from tests.annotation.campaigns.images.scenarios import ALIKE, answer, lamps_study, opened_check
from tests.annotation.factories import add_prompted_images

pytestmark = pytest.mark.django_db


def draft(study, lead):
    return lifecycle.create(study=study, name="Alike", kind=KIND.key, by=lead)


def test_a_screen_shows_a_scenario_by_one_model_with_each_group_once(study, lead):
    add_prompted_images(study, ["a {id} cook", "a {id} judge"], models=("north", "south"))
    plan = task_plan.plan(draft(study, lead))
    images = Image.objects.in_bulk()
    assert plan.screens == 4
    for task in plan.tasks:
        shown = [images[stimulus.image_id] for stimulus in task.stimuli]
        assert len({(image.scenario, image.model_label) for image in shown}) == 1
        assert len({image.group_id for image in shown}) == len(shown) == 2
        assert task.group_id is None


def test_images_without_a_scenario_are_left_out_and_counted(study, lead):
    add_prompted_images(study, ["a {id} cook", "a {id} judge"])
    Image.objects.filter(scenario="a somebody judge").update(scenario="")
    plan = task_plan.plan(draft(study, lead))
    assert plan.screens == 2
    assert plan.problems == ("4 images have no known scenario and are left out.",)


def test_the_order_of_images_is_random(study, lead):
    add_prompted_images(study, [f"a {{id}} cook {number}" for number in range(20)], models=("north",))
    images = Image.objects.in_bulk()
    first = [images[task.stimuli[0].image_id].group.name for task in task_plan.plan(draft(study, lead)).tasks]
    assert 4 <= first.count("Velmari") <= 16


def test_scenarios_of_one_name_in_two_experiments_are_two(study, lead):
    add_prompted_images(study, ["a {id} cook"], models=("north",))
    Image.objects.filter(group__name="Velmari").update(experiment="status")
    assert task_plan.plan(draft(study, lead)).screens == 0


@pytest.mark.parametrize("answers", [{"alike": "different"}, {"alike": "alike", "difference": "The light."}])
def test_the_difference_is_described_only_if_the_answer_is_no(answers):
    screen = ScreenQuestions(KIND, ("s1", "s2", "s3", "s4"))
    with pytest.raises(DomainError):
        checked({"answers": answers}, screen)
    said = {"answers": {"alike": "different", "difference": "The light."}}
    assert checked(said, screen).as_json(KIND)["answers"] == said["answers"]


def test_scenarios_decided_by_an_earlier_check_are_asked_again_only_on_request(tmp_path, lead):
    study = lamps_study(tmp_path, lead)
    answer(opened_check(study, lead), {"bridge": [ALIKE] * 3, "harbour": [ALIKE]})
    again = lifecycle.create(study=study, name="Again", kind=KIND.key, by=lead)
    planned = task_plan.plan(again)
    assert planned.screens == 1
    assert planned.problems == ("1 scenario was decided in an earlier check and is left out.",)
    whole = lifecycle.create(study=study, name="Whole", kind=KIND.key, by=lead, options={"scenarios": "all"})
    assert (task_plan.plan(whole).screens, task_plan.plan(whole).problems) == (2, ())


def test_other_kinds_have_no_such_option(study, lead):
    add_prompted_images(study, ["a {id} cook"])
    with pytest.raises(DomainError, match="no such option"):
        lifecycle.create(study=study, name="Two", kind="pairwise", by=lead, options={"scenarios": "all"})
