"""A retracted image is not shown and does not count until it is restored."""

import pytest

from annotation.answers.inclusion import counted
from annotation.campaigns.images import retraction
from annotation.campaigns.progress import progress
from annotation.models import Assignment
from foundation.errors import Conflict, DomainError
from studies.models import AuditEntry
from tests.annotation.assignment.test_leases import label_everything, next_for, slots_are_counted
from tests.annotation.factories import new_annotator, submit

pytestmark = pytest.mark.django_db


def test_tasks_of_a_retracted_image_are_withdrawn_and_open_ones_released(marking, lead):
    anna = new_annotator(marking)
    leased = next_for(anna, marking)
    image = leased.task.image
    retraction.retract(image=image, by=lead, reason="not a person")
    assert Assignment.objects.get(pk=leased.pk).state == "expired"
    assert next_for(anna, marking).task.image_id != image.pk
    assert len(label_everything(marking, anna)) == 6
    assert progress(marking).withdrawn == 2
    assert slots_are_counted()
    assert AuditEntry.objects.get(action="image.retracted").details == {"reason": "not a person"}


def test_an_answer_on_its_way_is_kept_and_does_not_count(marking, lead):
    leased = next_for(new_annotator(marking), marking)
    retraction.retract(image=leased.task.image, by=lead, reason="odd")
    assert submit(leased).status == "surplus"
    assert counted(marking).count() == 0


def test_restoring_brings_back_image_tasks_and_labels(marking, lead):
    anna = new_annotator(marking)
    label_everything(marking, anna)
    image = marking.tasks.first().image
    retracted = retraction.retract(image=image, by=lead, reason="odd")
    assert counted(marking).count() == 6
    restored = retraction.restore(image=retracted, by=lead)
    assert (restored.retracted_at, restored.retracted_reason) == (None, "")
    assert counted(marking).count() == 8
    assert set(Assignment.objects.values_list("state", "task__held")) == {("submitted", 1)}
    assert len(label_everything(marking, new_annotator(marking))) == 8


def test_a_reason_is_needed_and_each_step_happens_once(marking, lead):
    image = marking.tasks.first().image
    with pytest.raises(DomainError, match="Give a reason"):
        retraction.retract(image=image, by=lead, reason=" ")
    with pytest.raises(Conflict):
        retraction.restore(image=image, by=lead)
    retraction.retract(image=image, by=lead, reason="odd")
    with pytest.raises(Conflict):
        retraction.retract(image=image, by=lead, reason="odd")
