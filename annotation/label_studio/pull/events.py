"""Handling webhook events: the rows they name are read from the server itself."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from django.utils import timezone

from annotation.label_studio.base import job_queue
from annotation.label_studio.client.errors import Trouble
from annotation.label_studio.client.rest import Client
from annotation.label_studio.labels.settle import settle
from annotation.label_studio.models import (
    LabelStudioAnnotation,
    LabelStudioBridge,
    LabelStudioEvent,
    LabelStudioProject,
    LabelStudioTask,
)
from annotation.label_studio.people import user_names
from annotation.label_studio.pull.fetch import check, look_at_all, look_at_some
from annotation.label_studio.pull.reconcile import OF_ONE_PROJECT, reconcile_by
from annotation.label_studio.pull.webhooks import EVERYTHING, MOST_ROWS
from foundation.errors import DomainError
from jobs.models import Job
from jobs.progress.reporter import Progress, Unwatched

_AT_ONCE = 200
# Reading a page takes as long as reading this number of tasks one by one.
_MOST_SINGLY = 100

# Events cause complete comparisons at most this often; earlier requests wait.
_BETWEEN_COMPARISONS = timedelta(minutes=5)
_EVERYTHING = "Everything in Label Studio is compared with its mirror."

_OF_ANNOTATIONS = {"ANNOTATION_CREATED", "ANNOTATIONS_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_DELETED"}
_OF_TASKS = {"TASKS_DELETED"}
_OF_PROJECTS = {"PROJECT_UPDATED", "PROJECT_DELETED"}
_OF_NO_CONCERN = {
    "PROJECT_CREATED",
    "TASKS_CREATED",
    "LABEL_LINK_CREATED",
    "LABEL_LINK_UPDATED",
    "LABEL_LINK_DELETED",
}


@dataclass
class WorkedOff:
    """The processed events, and the problems that were found."""

    events: int = 0
    tasks: int = 0
    compared: bool = False  # whether everything was compared
    problems: list[DomainError] = field(default_factory=list)

    def __str__(self) -> str:
        hints = "1 hint" if self.events == 1 else f"{self.events:,} hints"
        if self.compared:
            return f"{hints} processed; everything was compared."
        return f"{hints} processed: {self.tasks:,} tasks were read."


@dataclass
class _Plan:
    """The places named by some events, each once, and the outcome of each event."""

    everything: bool = False
    tasks: dict[LabelStudioProject, set[int]] = field(default_factory=lambda: defaultdict(set))
    # Projects whose settings are to be checked.
    projects: set[LabelStudioProject] = field(default_factory=set)
    outcomes: list[tuple[LabelStudioEvent, str]] = field(default_factory=list)


def work_off(*, bridge: LabelStudioBridge, progress: Progress | None = None) -> WorkedOff:
    """Read the rows that waiting events name, until no event waits; raises Trouble if the server does not answer.

    An event is done only when its rows are counted, so an interrupted event is processed again.
    """
    progress = progress or Unwatched()
    report = WorkedOff()
    with Client.of(bridge.server) as client:
        waiting, last_id = bridge.events.filter(done_at=None).order_by("pk"), 0
        while events := list(waiting.filter(pk__gt=last_id)[:_AT_ONCE]):
            last_id = events[-1].pk
            progress.check_cancelled()
            _work_off(client, bridge, events, report, progress)
    return report


def _work_off(
    client: Client,
    bridge: LabelStudioBridge,
    events: Sequence[LabelStudioEvent],
    report: WorkedOff,
    progress: Progress,
) -> None:
    plan = _plan(bridge, events)
    if plan.everything and (again := _compared_until(bridge)) is None:
        report.problems = reconcile_by(client, bridge, progress).problems
        report.compared = True
    else:
        if plan.everything:
            job_queue.start(job_queue.RECONCILE, bridge, by=None, not_before=again)
        progress.start(sum(map(len, plan.tasks.values())))
        _look(client, bridge, plan, report, progress)
    now = timezone.now()
    for event, outcome in plan.outcomes:
        event.done_at, event.outcome = now, outcome[:300]
        event.tasks, event.annotations = [], []  # there may be very many, and they are no longer needed
    done_with = [event for event, _ in plan.outcomes]
    LabelStudioEvent.objects.bulk_update(done_with, ["done_at", "outcome", "tasks", "annotations"])
    report.events += len(done_with)


def _compared_until(bridge: LabelStudioBridge) -> datetime | None:
    """Return when an event may cause the next complete comparison; None if now. Events may arrive without end."""
    reconciled_at = LabelStudioBridge.objects.values_list("reconciled_at", flat=True).get(pk=bridge.pk)
    if reconciled_at is None or reconciled_at + _BETWEEN_COMPARISONS <= timezone.now():
        return None
    return reconciled_at + _BETWEEN_COMPARISONS


def _look(
    client: Client, bridge: LabelStudioBridge, plan: _Plan, report: WorkedOff, progress: Progress
) -> None:
    touched: set[int] = set()
    wrong: Trouble | None = None
    for project, numbers in sorted(plan.tasks.items(), key=lambda item: item[0].pk):
        look = partial(look_at_all, client, project, progress)
        if len(numbers) <= _MOST_SINGLY:
            look = partial(look_at_some, client, project, numbers, progress)
        try:
            reading = look()
        except Trouble as trouble:
            wrong = trouble
            if trouble.code not in OF_ONE_PROJECT:
                break
            continue
        # Include the named tasks even if unchanged: an earlier attempt may have stored them without counting.
        touched |= reading.touched | _tasks_of(project, numbers)
        report.tasks += len(numbers)
        report.problems += reading.problems
    if touched:
        settle(bridge=bridge, task_ids=touched, progress=progress)
        user_names.name_users(client, bridge.server)
    if wrong is not None:
        raise wrong
    for project in sorted(plan.projects, key=lambda row: row.pk):
        if (problem := check(client, project)) is not None:
            report.problems.append(problem)


def _plan(bridge: LabelStudioBridge, events: Sequence[LabelStudioEvent]) -> _Plan:
    plan = _Plan()
    # Asked first: then the tasks of a push that has ended are known below.
    sending = job_queue.jobs_of(bridge, job_queue.PUSH).filter(state=Job.State.RUNNING).exists()
    projects = {project.external_id: project for project in bridge.projects.filter(gone_at=None)}
    task_numbers, annotation_numbers = (
        _numbers(event.tasks for event in events),
        _numbers(event.annotations for event in events),
    )
    if max(len(task_numbers), len(annotation_numbers)) > MOST_ROWS:
        return _Plan(everything=True, outcomes=[(event, _EVERYTHING) for event in events])
    tasks, answers = (
        _projects_of_tasks(bridge, task_numbers),
        _tasks_of_annotations(bridge, annotation_numbers),
    )
    for event in events:
        outcome = _planned(event, plan, projects, tasks, answers)
        # The event may name a task that is being sent and whose number is not stored yet: so it waits.
        if not sending or outcome != _outcome(0):
            plan.outcomes.append((event, outcome))
    return plan


def _planned(
    event: LabelStudioEvent,
    plan: _Plan,
    projects: dict[int, LabelStudioProject],
    tasks: dict[int, LabelStudioProject],
    answers: dict[int, tuple[LabelStudioProject, int]],
) -> str:
    """Add the places named by an event to the plan; return the event's outcome."""
    if event.action in _OF_NO_CONCERN:
        return "The event does not concern this server."
    if event.project is not None and event.project not in projects:
        return "The event names a project of another campaign."
    if event.action in _OF_PROJECTS:
        event_projects = [projects[event.project]] if event.project is not None else projects.values()
        plan.projects.update(event_projects)
        return "The project was checked."
    if event.action not in _OF_ANNOTATIONS | _OF_TASKS | {EVERYTHING}:
        return "The event has an unknown type."
    if not event.tasks and not event.annotations:
        # Label Studio names nothing if the object of the event is already deleted.
        plan.everything = True
        return _EVERYTHING
    places = [(tasks[number], number) for number in event.tasks if number in tasks]
    if not event.tasks:
        places += [answers[number] for number in event.annotations if number in answers]
    for project, number in places:
        plan.tasks[project].add(number)
    return _outcome(len(set(places)))


def _outcome(number: int) -> str:
    if not number:
        return "The event names no known task or annotation."
    return "The task was read." if number == 1 else f"{number:,} tasks were read."


def _numbers(lists: Iterable[object]) -> set[int]:
    return {number for numbers in lists if isinstance(numbers, list) for number in numbers}


def _projects_of_tasks(bridge: LabelStudioBridge, numbers: Collection[int]) -> dict[int, LabelStudioProject]:
    """Return the projects that have or had these tasks: a deleted task may already have been sent again."""
    live = {"project__bridge": bridge, "project__gone_at": None}
    mirrored = LabelStudioAnnotation.objects.filter(**live, external_task__in=numbers, deleted_at=None)
    sent = LabelStudioTask.objects.filter(**live, external_id__in=numbers)
    projects_by_task = {
        row.external_task: row.project for row in mirrored.select_related("project").defer("result")
    }
    return projects_by_task | {row.external_id: row.project for row in sent.select_related("project")}


def _tasks_of_annotations(
    bridge: LabelStudioBridge, numbers: Collection[int]
) -> dict[int, tuple[LabelStudioProject, int]]:
    """Return the last known places of annotations: the event of a deletion has only the annotation's number."""
    rows = LabelStudioAnnotation.objects.filter(
        project__bridge=bridge, project__gone_at=None, external_id__in=numbers
    )
    rows = rows.select_related("project").only("external_id", "external_task", "project")
    return {row.external_id: (row.project, row.external_task) for row in rows}


def _tasks_of(project: LabelStudioProject, numbers: Collection[int]) -> set[int]:
    sent = LabelStudioTask.objects.filter(project=project, external_id__in=numbers)
    return set(sent.values_list("task_id", flat=True))
