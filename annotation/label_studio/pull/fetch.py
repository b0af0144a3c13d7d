"""What stands in one project over there goes into the mirror, after a look whether it is what was sent.

A task is ours where its number and its `ref` are those that we know. Only of such tasks anything is written, and
an annotation is only ever missed where its task was read whole, or is gone from a project that still holds others of
ours; and it is taken for deleted only where few are missed (see `deletions`): a server whose database
was set back, or that answers by halves, deletes nothing here.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from annotation.label_studio.base.refs import refs_of
from annotation.label_studio.client import errors
from annotation.label_studio.client.errors import Trouble
from annotation.label_studio.client.rest import Client
from annotation.label_studio.pull import problems
from annotation.label_studio.pull.deletions import held, missed, missing
from annotation.label_studio.pull.mirror import mirror
from annotation.label_studio.push.configuration import as_sent
from annotation.models import LabelStudioAnnotation, LabelStudioProject
from foundation.errors import DomainError
from jobs.progress.reporter import Progress

PAGE_SIZE = 200
# So many that fail with none that does not: it is the server that fails.
MOST_UNREADABLE = 100
Known = Mapping[int, str]  # the `ref` of each task that was sent, by its number there


@dataclass
class Seen:
    """What a look at a project brought. Numbers of tasks are theirs; `touched` are keys of ours."""

    ours: set[int] = field(default_factory=set)
    strange: set[int] = field(default_factory=set)  # numbers of ours that stand for something else now
    deleted: set[int] = field(default_factory=set)
    unreadable: set[int] = field(default_factory=set)  # at which the server fails
    annotations: int = 0
    touched: set[int] = field(default_factory=set)
    missing: set[int] = field(default_factory=set)  # rows of the mirror
    found: list[DomainError] = field(default_factory=list)


def check(client: Client, project: LabelStudioProject) -> DomainError | None:
    """Return what is wrong with a project as such: it is gone, or was set up otherwise by hand."""
    try:
        shown = client.project(project.external_id)
    except Trouble as trouble:
        if trouble.code != "gone":
            raise
        return problems.project_gone(project)
    return None if as_sent(project, shown) else problems.configuration_edited(project)


def look_at_all(client: Client, project: LabelStudioProject, progress: Progress) -> Seen:
    """Read a project whole, page by page."""
    seen, known = Seen(), refs_of(project)
    if not known:
        return seen
    wrong = check(client, project)
    if wrong is not None:
        seen.found.append(wrong)
    if wrong is not None and wrong.code == problems.PROJECT_GONE:
        return seen
    pages = client.tasks_with_annotations(
        project.external_id,
        page_size=PAGE_SIZE,
        numbers=known,
        failing=partial(_pass_over, client, project, seen),
    )
    for page in pages:
        progress.check_cancelled()
        _take_in(client, project, page, known, seen)
        progress.advance(len(page))
    if not seen.ours and not seen.unreadable:
        return Seen(found=[problems.project_strange(project)])
    left = _answered(project) - seen.ours - seen.strange - seen.unreadable
    _look_for(client, project, left, known, seen, progress)
    _say(project, seen, known.keys() - seen.ours - seen.strange - seen.unreadable)
    return seen


def look_at_some(
    client: Client, project: LabelStudioProject, numbers: Collection[int], progress: Progress
) -> Seen:
    """Read some tasks of a project, one by one."""
    seen, known = Seen(), refs_of(project)
    try:
        _look_for(client, project, numbers, known, seen, progress)
    except Trouble as trouble:
        if trouble.code != "gone":
            raise
        return Seen(found=[problems.project_gone(project)])
    if seen.strange and not seen.ours and not _still_ours(client, project, known):
        return Seen(found=[problems.project_strange(project)])
    _say(project, seen, set())
    return seen


def _look_for(
    client: Client,
    project: LabelStudioProject,
    numbers: Collection[int],
    known: Known,
    seen: Seen,
    progress: Progress,
) -> None:
    """Read tasks one by one; those that are gone are deleted, where the project is still ours."""
    lost: set[int] = set()
    for number in sorted(numbers):
        progress.check_cancelled()
        try:
            task = client.task(number)
        except Trouble as trouble:
            if trouble.code == "server_error":
                _pass_over(client, project, seen, number, trouble)
            elif trouble.code == "gone":
                lost.add(number)
            else:
                raise
        else:
            _take_in(client, project, [task], known, seen)
        progress.advance()
    if lost and (seen.ours or _still_ours(client, project, known)):
        seen.deleted |= lost
        seen.missing |= missing(project=project, external_tasks=lost, present=())
    elif lost:
        seen.found.append(problems.project_strange(project))


def _pass_over(
    client: Client, project: LabelStudioProject, seen: Seen, number: int, trouble: Trouble
) -> None:
    """Note that the server fails at a task, unless it fails altogether: what is known of the task stays as it is."""
    client.project(project.external_id)
    seen.unreadable.add(number)
    if len(seen.unreadable) >= MOST_UNREADABLE and not seen.ours:
        raise trouble


def _still_ours(client: Client, project: LabelStudioProject, known: Known) -> bool:
    return any(known.get(number) == ref for number, ref in client.task_refs(project.external_id))


def _take_in(
    client: Client, project: LabelStudioProject, tasks: Sequence[Mapping[str, Any]], known: Known, seen: Seen
) -> None:
    if not all(type(task.get("id")) is int and isinstance(task.get("annotations"), list) for task in tasks):
        raise errors.garbage(client.url)
    # What was not sent by us is passed over: what is said of it is no answer to anything asked here.
    sent = [task for task in tasks if task["id"] in known]
    ours = [task for task in sent if _is(task, project, known[task["id"]])]
    whole = {task["id"] for task in ours}
    annotations = [annotation for task in ours for annotation in task["annotations"]]
    seen.ours |= whole
    seen.strange |= {task["id"] for task in sent} - whole
    seen.annotations += len(annotations)
    seen.touched |= mirror(project=project, annotations=annotations)
    present = [annotation["id"] for annotation in annotations if annotation.get("id") is not None]
    seen.missing |= missing(project=project, external_tasks=whole, present=present)


def _is(task: Mapping[str, Any], project: LabelStudioProject, ref: str) -> bool:
    data = task.get("data")
    where = task.get("project", project.external_id)
    return isinstance(data, Mapping) and data.get("ref") == ref and where == project.external_id


def _answered(project: LabelStudioProject) -> set[int]:
    """Return the tasks of which the mirror holds something that was not deleted yet; a task that was sent anew in
    place of one that was deleted there has another number now."""
    live = LabelStudioAnnotation.objects.filter(project=project, deleted_at=None, missing="")
    return set(live.values_list("external_task", flat=True).distinct())


def _say(project: LabelStudioProject, seen: Seen, unsent: Collection[int]) -> None:
    seen.touched |= missed(project=project, rows=seen.missing)
    if number := held(project):
        seen.found.append(problems.many_deleted(project, number))
    if seen.strange:
        seen.found.append(problems.tasks_changed(project, len(seen.strange)))
    if seen.unreadable:
        seen.found.append(problems.tasks_unreadable(project, seen.unreadable))
    if unsent:
        seen.found.append(problems.tasks_missing(project, len(unsent)))
