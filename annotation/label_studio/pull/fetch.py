"""Reading one project in Label Studio into the mirror, after checking that its tasks are still ours.

A task is ours if both its number and its `ref` are known here. Only such tasks are stored. An annotation is missing
only if its task was read completely, or if the task is missing in a project that still has other tasks of ours. It is
treated as deleted only if few are missing (see `deletions`). So a server whose database was restored, or that sends
incomplete responses, causes no deletions here.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from annotation.label_studio.base.opaque_names import refs_of
from annotation.label_studio.client import errors
from annotation.label_studio.client.errors import Trouble
from annotation.label_studio.client.rest import Client
from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioProject
from annotation.label_studio.pull import problems
from annotation.label_studio.pull.deletions import held_count, missed, missing
from annotation.label_studio.pull.mirror import mirror
from annotation.label_studio.push.configuration import as_sent
from foundation.errors import DomainError
from jobs.progress.reporter import Progress

PAGE_SIZE = 200
# If this many tasks fail and none succeeds, the server itself has failed.
MOST_UNREADABLE = 100
TaskRefs = Mapping[int, str]  # the `ref` of each sent task, by its number in Label Studio


@dataclass
class ProjectReading:
    """The result of reading a project. Tasks have Label Studio's numbers, except `touched`, which has our primary
    keys."""

    own_tasks: set[int] = field(default_factory=set)
    strange: set[int] = field(default_factory=set)  # our tasks' numbers that now belong to other tasks
    deleted: set[int] = field(default_factory=set)
    unreadable: set[int] = field(default_factory=set)  # tasks at which the server fails
    annotations: int = 0
    touched: set[int] = field(default_factory=set)
    missing: set[int] = field(default_factory=set)  # rows of the mirror
    problems: list[DomainError] = field(default_factory=list)


def check(client: Client, project: LabelStudioProject) -> DomainError | None:
    """Return the problem of a project itself: it no longer exists, or its settings were changed by hand."""
    try:
        project_body = client.project(project.external_id)
    except Trouble as trouble:
        if trouble.code != "gone":
            raise
        return problems.project_gone(project)
    return None if as_sent(project, project_body) else problems.configuration_edited(project)


def look_at_all(client: Client, project: LabelStudioProject, progress: Progress) -> ProjectReading:
    """Read a whole project, page by page."""
    reading, refs = ProjectReading(), refs_of(project)
    if not refs:
        return reading
    wrong = check(client, project)
    if wrong is not None:
        reading.problems.append(wrong)
    if wrong is not None and wrong.code == problems.PROJECT_GONE:
        return reading
    pages = client.tasks_with_annotations(
        project.external_id,
        page_size=PAGE_SIZE,
        numbers=refs,
        failing=partial(_pass_over, client, project, reading),
    )
    for page in pages:
        progress.check_cancelled()
        _take_in(client, project, page, refs, reading)
        progress.advance(len(page))
    if not reading.own_tasks and not reading.unreadable:
        return ProjectReading(problems=[problems.project_strange(project)])
    unread = _answered(project) - reading.own_tasks - reading.strange - reading.unreadable
    _look_for(client, project, unread, refs, reading, progress)
    _say(project, reading, refs.keys() - reading.own_tasks - reading.strange - reading.unreadable)
    return reading


def look_at_some(
    client: Client, project: LabelStudioProject, numbers: Collection[int], progress: Progress
) -> ProjectReading:
    """Read some tasks of a project, one by one."""
    reading, refs = ProjectReading(), refs_of(project)
    try:
        _look_for(client, project, numbers, refs, reading, progress)
    except Trouble as trouble:
        if trouble.code != "gone":
            raise
        return ProjectReading(problems=[problems.project_gone(project)])
    if reading.strange and not reading.own_tasks and not _still_ours(client, project, refs):
        return ProjectReading(problems=[problems.project_strange(project)])
    _say(project, reading, set())
    return reading


def _look_for(
    client: Client,
    project: LabelStudioProject,
    numbers: Collection[int],
    refs: TaskRefs,
    reading: ProjectReading,
    progress: Progress,
) -> None:
    """Read tasks one by one; missing tasks are treated as deleted if the project is still ours."""
    lost: set[int] = set()
    for number in sorted(numbers):
        progress.check_cancelled()
        try:
            task = client.task(number)
        except Trouble as trouble:
            if trouble.code == "server_error":
                _pass_over(client, project, reading, number, trouble)
            elif trouble.code == "gone":
                lost.add(number)
            else:
                raise
        else:
            _take_in(client, project, [task], refs, reading)
        progress.advance()
    if lost and (reading.own_tasks or _still_ours(client, project, refs)):
        reading.deleted |= lost
        reading.missing |= missing(project=project, external_tasks=lost, present=())
    elif lost:
        reading.problems.append(problems.project_strange(project))


def _pass_over(
    client: Client, project: LabelStudioProject, reading: ProjectReading, number: int, trouble: Trouble
) -> None:
    """Note that the server fails at a task, unless it fails at all tasks. The stored data of the task do not change."""
    client.project(project.external_id)
    reading.unreadable.add(number)
    if len(reading.unreadable) >= MOST_UNREADABLE and not reading.own_tasks:
        raise trouble


def _still_ours(client: Client, project: LabelStudioProject, refs: TaskRefs) -> bool:
    return any(refs.get(number) == ref for number, ref in client.task_refs(project.external_id))


def _take_in(
    client: Client,
    project: LabelStudioProject,
    tasks: Sequence[Mapping[str, Any]],
    refs: TaskRefs,
    reading: ProjectReading,
) -> None:
    if not all(type(task.get("id")) is int and isinstance(task.get("annotations"), list) for task in tasks):
        raise errors.garbage(client.url)
    # Tasks that we did not send are skipped: their annotations answer none of our questions.
    sent = [task for task in tasks if task["id"] in refs]
    own_tasks = [task for task in sent if _is(task, project, refs[task["id"]])]
    whole = {task["id"] for task in own_tasks}
    annotations = [annotation for task in own_tasks for annotation in task["annotations"]]
    reading.own_tasks |= whole
    reading.strange |= {task["id"] for task in sent} - whole
    reading.annotations += len(annotations)
    reading.touched |= mirror(project=project, annotations=annotations)
    present = [annotation["id"] for annotation in annotations if annotation.get("id") is not None]
    reading.missing |= missing(project=project, external_tasks=whole, present=present)


def _is(task: Mapping[str, Any], project: LabelStudioProject, ref: str) -> bool:
    data = task.get("data")
    where = task.get("project", project.external_id)
    return isinstance(data, Mapping) and data.get("ref") == ref and where == project.external_id


def _answered(project: LabelStudioProject) -> set[int]:
    """Return the tasks with mirrored annotations that are not deleted. A task that was deleted there and sent again has
    another number now."""
    live = LabelStudioAnnotation.objects.filter(project=project, deleted_at=None, missing="")
    return set(live.values_list("external_task", flat=True).distinct())


def _say(project: LabelStudioProject, reading: ProjectReading, unsent: Collection[int]) -> None:
    reading.touched |= missed(project=project, rows=reading.missing)
    if number := held_count(project):
        reading.problems.append(problems.many_deleted(project, number))
    if reading.strange:
        reading.problems.append(problems.tasks_changed(project, len(reading.strange)))
    if reading.unreadable:
        reading.problems.append(problems.tasks_unreadable(project, reading.unreadable))
    if unsent:
        reading.problems.append(problems.tasks_missing(project, len(unsent)))
