"""Answers missing in Label Studio: a few count as deleted; about many, the lead decides."""

import pytest

from annotation.label_studio.base.connections import note_trouble
from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioBridge
from annotation.label_studio.pull import problems
from annotation.label_studio.pull.deletions import FEW, confirm_deletions, held_count, keep_labels
from foundation.errors import Conflict
from studies.models import AuditEntry
from tests.annotation.assignment.test_leases import slots_are_counted
from tests.annotation.factories import new_annotator
from tests.annotation.label_studio.payloads import annotation, compare, number_of, project_of, tell, worker
from tests.annotation.label_studio.rows import bridge_of

pytestmark = pytest.mark.django_db
USERS = 3


@pytest.fixture
def bridge(marking):
    bridge = bridge_of(marking)
    for number in range(1, USERS + 1):
        worker(bridge, number, new_annotator(marking))
    return bridge


@pytest.fixture
def answers(bridge):
    """More than a few answers, of all tasks of a project; the numbers start at 1."""
    tasks = list(bridge.campaign.tasks.order_by("pk"))
    made = [
        annotation(place * USERS + user, task=number_of(bridge, task), user=user, minute=place * USERS + user)
        for place, task in enumerate(tasks)
        for user in range(1, USERS + 1)
    ]
    assert len(made) > FEW + 2
    tell(bridge, *made)
    return made


def labels(bridge) -> dict:
    latest = bridge.campaign.annotations.filter(is_latest=True).order_by("task", "annotator")
    return {(task, who): status for task, who, status in latest.values_list("task", "annotator", "status")}


def test_a_few_missing_answers_count_as_deleted(bridge, answers):
    compare(bridge, *answers[2:])
    assert held_count(bridge) == 0
    assert LabelStudioAnnotation.objects.exclude(deleted_at=None).count() == 2
    assert list(labels(bridge).values()).count("excluded") == 2


def test_many_missing_answers_are_held_until_the_lead_decides(bridge, answers):
    before = labels(bridge)
    compare(bridge, answers[0])
    assert labels(bridge) == before
    assert held_count(bridge) == held_count(project_of(bridge)) == len(answers) - 1
    # Nor do answers missed afterwards, however few.
    compare(bridge)
    assert labels(bridge) == before
    assert held_count(bridge) == len(answers)


def test_answers_that_return_are_no_longer_held(bridge, answers):
    before = labels(bridge)
    compare(bridge, answers[0])
    compare(bridge, *answers)
    assert held_count(bridge) == 0
    assert labels(bridge) == before


def test_the_lead_confirms_the_deletion(bridge, answers, lead):
    compare(bridge, answers[0])
    note_trouble(bridge=bridge, trouble=problems.many_deleted(project_of(bridge), held_count(bridge)))
    assert confirm_deletions(bridge=bridge, by=lead) == len(answers) - 1
    assert list(labels(bridge).values()).count("excluded") == len(answers) - 1
    assert LabelStudioAnnotation.objects.filter(state="deleted").count() == len(answers) - 1
    assert slots_are_counted()
    assert LabelStudioBridge.objects.get().problem == ""
    assert AuditEntry.objects.filter(action="label_studio.deletions_confirmed", actor=lead).count() == 1
    with pytest.raises(Conflict) as refused:
        confirm_deletions(bridge=bridge, by=lead)
    assert refused.value.code == "nothing_held"


def test_the_lead_keeps_the_labels(bridge, answers, lead):
    before = labels(bridge)
    compare(bridge, answers[0])
    assert keep_labels(bridge=bridge, by=lead) == len(answers) - 1
    compare(bridge)  # the remaining one was deleted later
    assert held_count(bridge) == 0
    assert list(labels(bridge).values()).count("excluded") == 1
    assert slots_are_counted()
    compare(bridge, *answers)
    assert labels(bridge) == before
    assert not LabelStudioAnnotation.objects.filter(missing="kept").exists()


def test_a_reused_number_removes_no_label(bridge, answers, lead):
    """A server restored from a backup reuses the numbers of the answers it lost."""
    before = labels(bridge)
    task = bridge.campaign.tasks.latest("pk")
    again = annotation(answers[0]["id"], task=number_of(bridge, task), user=2, minute=500)
    compare(bridge, *answers[1:], again)
    assert labels(bridge) == before
    assert held_count(bridge) == 1
    # From now on, the restore of the server is known.
    compare(bridge, *answers[2:], again)
    assert labels(bridge) == before
    assert held_count(bridge) == 2
    keep_labels(bridge=bridge, by=lead)
    compare(bridge, *answers[2:], again)
    assert labels(bridge) == before
    assert held_count(bridge) == 0
