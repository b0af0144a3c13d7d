"""The tasks that hints cause to be read: each once, and none for unknown rows."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.label_studio.base import job_queue
from annotation.label_studio.client.encryption import seal
from annotation.label_studio.models import (
    LabelStudioBridge,
    LabelStudioEvent,
    LabelStudioProject,
    LabelStudioServer,
    LabelStudioTask,
)
from annotation.label_studio.pull import events
from annotation.label_studio.pull.mirror import mirror
from jobs.models import Job
from tests.annotation.conftest import rating
from tests.annotation.label_studio.people.test_identity import annotation
from tests.annotation.label_studio.rows import bridge_of

__all__ = ["rating"]


@pytest.fixture
def bridge(rating, study) -> LabelStudioBridge:
    """Two projects, 1 and 2, whose tasks are 101, 102, … and 201, 202, …; annotation 21 belongs to task 101."""
    server = LabelStudioServer.objects.create(
        study=study, url="https://label.example.org", token=seal("token")
    )
    bridge = LabelStudioBridge.objects.create(
        campaign=rating, server=server, address_secret=seal("a"), header_secret=seal("b")
    )
    for number in (1, 2):
        project = LabelStudioProject.objects.create(bridge=bridge, external_id=number, slot=number)
        for place, task in enumerate(rating.tasks.order_by("pk"), start=1):
            LabelStudioTask.objects.create(project=project, task=task, external_id=100 * number + place)
    mirror(project=bridge.projects.get(slot=1), annotations=[annotation(21, 101, 7)])
    return bridge


@pytest.fixture
def plan(bridge):
    def plan(*told):
        made = [LabelStudioEvent.objects.create(bridge=bridge, **one) for one in told]
        found = events._plan(bridge, made)
        tasks = {project.external_id: sorted(numbers) for project, numbers in found.tasks.items()}
        checked = sorted(project.external_id for project in found.projects)
        return found.everything, tasks, checked, [outcome for _, outcome in found.outcomes]

    return plan


def told(action, project=1, tasks=(), annotations=()):
    return {"action": action, "project": project, "tasks": list(tasks), "annotations": list(annotations)}


def test_each_task_is_read_once_however_often_it_is_named(plan):
    everything, tasks, checked, outcomes = plan(
        told("ANNOTATION_CREATED", tasks=[102], annotations=[30]),
        told("ANNOTATION_UPDATED", tasks=[102], annotations=[30]),
        told("ANNOTATION_CREATED", project=2, tasks=[201]),
        told("TASKS_DELETED", tasks=[103, 104]),
    )
    assert (everything, checked) == (False, [])
    assert tasks == {1: [102, 103, 104], 2: [201]}
    assert outcomes == [*["The task was read."] * 3, "2 tasks were read."]


def test_a_deleted_annotation_is_traced_to_its_task(plan):
    assert plan(told("ANNOTATIONS_DELETED", annotations=[21]))[1] == {1: [101]}


@pytest.mark.parametrize(
    ("one", "outcome"),
    [
        (
            told("ANNOTATIONS_DELETED", annotations=[99]),
            "The event names no known task or annotation.",
        ),
        (told("ANNOTATION_CREATED", tasks=[999]), "The event names no known task or annotation."),
        (
            told("ANNOTATION_CREATED", project=9, tasks=[101]),
            "The event names a project of another campaign.",
        ),
        (told("TASKS_CREATED", tasks=[101]), "The event does not concern this server."),
        (told("SOMETHING_NEW", tasks=[101]), "The event has an unknown type."),
    ],
)
def test_hints_about_unknown_rows_are_noted_and_nothing_is_read(plan, one, outcome):
    assert plan(one) == (False, {}, [], [outcome])


def test_a_changed_project_is_checked_and_all_are_if_none_is_named(plan):
    assert plan(told("PROJECT_UPDATED", project=2))[2] == [2]
    assert plan(told("PROJECT_DELETED", project=None))[2] == [1, 2]


@pytest.mark.parametrize("action", ["ANNOTATIONS_DELETED", "TASKS_DELETED", events.EVERYTHING])
def test_a_hint_that_names_nothing_requests_a_full_comparison(plan, action):
    """Label Studio sends this if the rows are deleted before the webhook is sent."""
    assert plan(told(action, project=None))[0]


def test_very_many_named_rows_cause_a_full_comparison(plan, monkeypatch):
    monkeypatch.setattr(events, "MOST_ROWS", 1)
    assert plan(told("TASKS_DELETED", tasks=[101, 102]))[0]


def test_full_comparisons_requested_by_hints_are_rate_limited(bridge):
    """A sender who knows the secrets could send such hints endlessly."""
    now = timezone.now()
    LabelStudioBridge.objects.filter(pk=bridge.pk).update(reconciled_at=now)
    for _ in range(3):
        event = LabelStudioEvent.objects.create(bridge=bridge, action=events.EVERYTHING)
        done = events.work_off(bridge=bridge)
        event.refresh_from_db()
        assert (done.compared, event.outcome) == (
            False,
            "Everything in Label Studio is compared with its mirror.",
        )
    job = Job.objects.get()
    assert (job.kind, job.state) == (job_queue.RECONCILE, Job.State.QUEUED)
    assert job.wait_until == now + timedelta(minutes=5)


def test_the_numbers_of_a_hint_are_kept_until_it_is_done(bridge):
    event = LabelStudioEvent.objects.create(
        bridge=bridge, **told("ANNOTATION_CREATED", tasks=[999], annotations=list(range(1, 500)))
    )
    events.work_off(bridge=bridge)
    event.refresh_from_db()
    assert event.done_at is not None
    assert (event.tasks, event.annotations) == ([], [])


def test_a_hint_about_a_task_being_sent_waits_for_its_number(rating):
    bridge = bridge_of(rating)
    hint = {"bridge": bridge, "action": "ANNOTATION_CREATED", "project": 11, "tasks": [4711]}
    first = LabelStudioEvent.objects.create(**hint)
    push = job_queue.start_push(bridge=bridge, by=None)
    Job.objects.filter(pk=push.pk).update(state=Job.State.RUNNING)
    assert events.work_off(bridge=bridge).events == 0
    first.refresh_from_db()
    assert first.done_at is None
    Job.objects.filter(pk=push.pk).update(state=Job.State.SUCCEEDED, finished_at=timezone.now())
    assert events.work_off(bridge=bridge).events == 1
    first.refresh_from_db()
    assert first.outcome == "The event names no known task or annotation."
