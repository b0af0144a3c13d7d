"""Concurrent workers on the same tasks, new messages of the server, decisions of a lead, withdrawals."""

import pytest

from annotation.answers import exclusion
from annotation.answers.inclusion import counted
from annotation.campaigns import lifecycle
from annotation.label_studio.labels.settle import settle
from annotation.label_studio.models import LabelStudioAnnotation
from annotation.label_studio.pull.mirror import mirror
from annotation.models import Annotation
from annotation.people import enrolments, withdrawal
from foundation.errors import Conflict
from tests.annotation.assignment.test_concurrency import at_once
from tests.annotation.assignment.test_leases import slots_are_counted
from tests.annotation.databases import shared_database
from tests.annotation.factories import add_images, new_annotator
from tests.annotation.label_studio.payloads import annotation, marks, project_of, worker
from tests.annotation.label_studio.rows import bridge_of

pytestmark = pytest.mark.django_db(transaction=True)
PEOPLE = 4


@pytest.fixture
def bridge(study, lead, tmp_path):
    add_images(study, 8)
    draft = lifecycle.create(
        study=study,
        name="Marking",
        kind="stereotype_marking",
        by=lead,
        annotators_per_task=2,
        attributes_per_screen=3,
    )
    with shared_database(tmp_path):
        campaign = lifecycle.open_(campaign=draft, by=lead)
        bridge = bridge_of(campaign)
        for number in range(1, PEOPLE + 1):
            worker(bridge, number, new_annotator(campaign))
        yield bridge


def everything(bridge, *, changed=0.0):
    """Return annotations of every task by everybody, the highest user number first."""
    numbers = project_of(bridge).tasks.order_by("pk").values_list("external_id", flat=True)
    return [
        annotation(number * 10 + user, task=number, user=user, minute=PEOPLE - user, changed=10 + changed)
        | {"result": marks()}
        for number in numbers
        for user in range(1, PEOPLE + 1)
    ]


def tasks_of(bridge):
    return list(bridge.campaign.tasks.order_by("pk").values_list("pk", flat=True))


def states(bridge):
    labels = bridge.campaign.annotations.filter(is_latest=True).order_by("task", "annotator")
    return list(labels.values_list("task", "annotator", "status", "assignment__slot"))


def fine(results):
    refused = [one for one in results if isinstance(one, Exception) and not isinstance(one, Conflict)]
    assert not refused, refused


def test_two_workers_settling_the_same_tasks_make_each_label_once(bridge):
    mirror(project=project_of(bridge), annotations=everything(bridge))
    tasks = tasks_of(bridge)
    done = at_once([lambda: settle(bridge=bridge, task_ids=tasks).written] * 4)
    fine(done)
    assert sorted(done) == [0, 0, 0, PEOPLE * len(tasks)]
    assert Annotation.objects.count() == PEOPLE * len(tasks)
    assert slots_are_counted()


def test_two_workers_mirroring_the_same_annotations_store_them_once(bridge):
    told, project = everything(bridge), project_of(bridge)
    fine(at_once([lambda: mirror(project=project, annotations=told)] * 3))
    assert LabelStudioAnnotation.objects.count() == len(told)


def test_changes_received_while_settling_are_not_lost(bridge):
    project, tasks = project_of(bridge), tasks_of(bridge)
    mirror(project=project, annotations=everything(bridge))

    def change(round_):
        told = [one | {"result": marks()} for one in everything(bridge, changed=round_)]
        touched = mirror(project=project, annotations=told)
        settle(bridge=bridge, task_ids=touched)

    jobs = [
        lambda: settle(bridge=bridge, task_ids=tasks),
        *(lambda one=one: change(one) for one in (1, 2, 3)),
    ]
    fine(at_once(jobs))
    settle(bridge=bridge, task_ids=tasks)
    assert not LabelStudioAnnotation.objects.filter(state="new").exists()
    assert slots_are_counted()


def test_decisions_made_meanwhile_are_respected(bridge, lead):
    campaign, tasks = bridge.campaign, tasks_of(bridge)
    project, told = project_of(bridge), everything(bridge)
    mirror(project=project, annotations=told)
    settle(bridge=bridge, task_ids=tasks)
    first, second, third, _ = [one.annotator for one in bridge.server.users.order_by("external_id")]
    accepted = list(campaign.annotations.filter(status="accepted", annotator=third).order_by("pk"))
    out = campaign.enrolments.get(annotator=second)
    fine(
        at_once(
            [
                lambda: settle(bridge=bridge, task_ids=tasks),
                lambda: settle(bridge=bridge, task_ids=list(reversed(tasks))),
                lambda: mirror(project=project, annotations=everything(bridge, changed=1)),
                lambda: withdrawal.withdraw(annotator=first, study=campaign.study),
                lambda: enrolments.exclude(enrolment=out, by=lead, reason="asleep", ask_again=True),
                lambda: [exclusion.exclude(annotation=one, by=lead, reason="no") for one in accepted],
            ]
        )
    )
    settle(bridge=bridge, task_ids=tasks)
    assert slots_are_counted()
    assert not counted(campaign).filter(annotator__in=[first, second]).exists()
    theirs = campaign.annotations.filter(is_latest=True, annotator=third)
    assert set(theirs.values_list("status_reason", flat=True)) == {"no"}
    after = states(bridge)
    settle(bridge=bridge, task_ids=tasks)
    assert states(bridge) == after
