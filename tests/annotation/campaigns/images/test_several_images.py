"""Images shown beside others are reported, retracted and restored with all screens that show them."""

import pytest

from annotation.annotator.payload import task_payload
from annotation.assignment.leases import next_assignment
from annotation.campaigns.images import reports, retraction
from annotation.kinds.stimuli import Stimuli
from annotation.models import Assignment, ImageReport
from foundation.errors import Conflict, DomainError
from tests.annotation.assignment.test_leases import slots_are_counted
from tests.annotation.factories import add_images, new_annotator
from tests.annotation.kinds.examples import PAIRWISE, RUBRIC, add_screen, declared, question_campaign, scale

pytestmark = pytest.mark.django_db


@pytest.fixture
def images(study):
    add_images(study, 2)
    return list(study.images.order_by("pk"))


@pytest.fixture
def pairs(study, images):
    """Pairs of the first and second image, and of the third and fourth."""
    campaign = question_campaign(study, PAIRWISE, screens=0)
    return campaign, [add_screen(campaign, PAIRWISE, pair) for pair in (images[:2], images[2:])]


def withdrawn(tasks):
    for task in tasks:
        task.refresh_from_db()
    return [task.withdrawn for task in tasks]


def test_a_screen_with_a_retracted_image_is_not_offered_and_an_open_one_is_released(pairs, images, lead):
    campaign, tasks = pairs
    anna = new_annotator(campaign)
    leased = next_assignment(campaign=campaign, annotator=anna)
    first = leased.task.stimuli.get(position=1).image
    retraction.retract(image=first, by=lead, reason="odd")
    assert withdrawn(tasks) == [task == leased.task for task in tasks]
    assert Assignment.objects.get(pk=leased.pk).state == "expired"
    assert next_assignment(campaign=campaign, annotator=anna).task != leased.task
    assert slots_are_counted()


def test_a_screen_comes_back_when_none_of_its_images_is_retracted_any_more(pairs, images, lead):
    _, tasks = pairs
    for image in images[:2]:
        retraction.retract(image=image, by=lead, reason="odd")
    retraction.restore(image=images[0], by=lead)
    assert withdrawn(tasks) == [True, False]
    retraction.restore(image=images[1], by=lead)
    assert withdrawn(tasks) == [False, False]


def test_a_report_covers_every_image_of_the_screen_or_the_named_one(pairs, images):
    campaign, _ = pairs
    leased = next_assignment(campaign=campaign, annotator=new_annotator(campaign))
    shown = [stimulus.image for stimulus in leased.task.stimuli.all()]

    def report(**more):
        return reports.report(assignment=leased, annotator=leased.annotator, reason="broken", **more)

    assert [kept.image for kept in report(stimulus="s2")] == [shown[1]]
    assert [kept.image for kept in report()] == shown
    assert ImageReport.objects.count() == 2
    for wrong in ("s3", "prompt", "x"):
        with pytest.raises(DomainError) as refused:
            report(stimulus=wrong)
        assert list(refused.value.fields) == ["stimulus"]


def test_a_prompt_beside_an_image_is_no_image_to_report(study, images):
    campaign = question_campaign(study, RUBRIC, screens=1)
    leased = next_assignment(campaign=campaign, annotator=new_annotator(campaign))
    (kept,) = reports.report(assignment=leased, annotator=leased.annotator, reason="broken")
    assert kept.image == leased.task.stimuli.get(position=0).image


def test_texts_have_no_image_to_report(study):
    kind = declared("words", Stimuli(medium="text"), scale("kind"))
    campaign = question_campaign(study, kind, screens=0)
    add_screen(campaign, kind, ["A sentence."])
    leased = next_assignment(campaign=campaign, annotator=new_annotator(campaign))
    assert task_payload(leased)["stimuli"] == [{"ref": "s1", "text": "A sentence."}]
    with pytest.raises(Conflict, match="no picture"):
        reports.report(assignment=leased, annotator=leased.annotator, reason="broken")
