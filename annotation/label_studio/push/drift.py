"""Comparing a project in Label Studio with the data here, and removing tasks that are no longer needed.

Label Studio deletes a task with its answers, without asking. So tasks are checked and removed in small batches:
somebody can answer a task only in the short time between the check and the removal.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from django.db import transaction

from annotation.label_studio.base.opaque_names import ref_of
from annotation.label_studio.client import errors
from annotation.label_studio.client.rest import Client
from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioProject, LabelStudioTask
from annotation.label_studio.push.tasks import AT_ONCE, write_down
from annotation.models import Task
from jobs.progress.reporter import Progress

REMOVED_AT_ONCE = 20


@dataclass(frozen=True)
class Stock:
    """The result of comparing a project."""

    adopted: int = 0  # our tasks that were there without being known here
    answered_twice: int = 0  # our tasks that are there more than once, with answers


@dataclass
class _PresentTasks:
    """Our tasks in a project: their numbers by our key, and the number of all tasks in it."""

    numbers: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    task_count: int = 0


def take_stock(client: Client, project: LabelStudioProject, number: int | None, progress: Progress) -> Stock:
    """Compare the tasks of the project (`number` in total) with the data here.

    Missing tasks of ours are forgotten, so that they are sent again. Of two copies of a task the answered one stays, or
    the first.
    """
    stored = dict(_known(project))
    # The right number may consist of other tasks, but comparing the answers would have found that.
    if number == len(stored) and not project.bridge.problem:
        return Stock()
    present = _read(client, project, progress)
    absent = [task for task in stored if stored[task] not in present.numbers[task]]
    if absent:
        _refuse_a_part(client, project, present.task_count, number)
    adopted = {
        task: min(numbers) for task, numbers in present.numbers.items() if numbers and task not in stored
    }
    moved = {task: min(present.numbers[task]) for task in absent if present.numbers[task]}
    with transaction.atomic():
        for start in range(0, len(absent), AT_ONCE):
            part = absent[start : start + AT_ONCE]
            LabelStudioTask.objects.filter(project=project, task__in=part).delete()
        write_down(project, adopted | moved, images_version=_version_of_found(project))
    recorded = dict(_known(project))
    copies = {
        task: [recorded[task], *sorted(set(numbers) - {recorded[task]})]
        for task, numbers in present.numbers.items()
        if len(numbers) > 1
    }
    return Stock(len(adopted) + len(moved), _keep_one(client, project, copies, progress))


def _read(client: Client, project: LabelStudioProject, progress: Progress) -> _PresentTasks:
    tasks = Task.objects.filter(campaign=project.bridge.campaign_id, purpose=Task.Purpose.LABEL)
    keys_by_ref = {ref_of(project, public_id): pk for pk, public_id in tasks.values_list("pk", "public_id")}
    present = _PresentTasks()
    for external_id, ref in client.task_refs(project.external_id):
        if present.task_count % AT_ONCE == 0:
            progress.check_cancelled()
        present.task_count += 1
        if ref in keys_by_ref:
            present.numbers[keys_by_ref[ref]].append(external_id)
    return present


def _refuse_a_part(client: Client, project: LabelStudioProject, read_count: int, number: int | None) -> None:
    """Raise Trouble if fewer tasks were read than the project has: unread tasks are not missing."""
    if number is None or read_count >= number:
        return
    task_number = client.project(project.external_id).get("task_number")
    if not isinstance(task_number, int) or read_count < task_number:
        raise errors.garbage(client.url)


def _keep_one(
    client: Client, project: LabelStudioProject, copies: Mapping[int, list[int]], progress: Progress
) -> int:
    """Keep one copy of each task (preferably the known one) and all answered copies; return the number of tasks with
    several copies left."""
    several = 0
    for tasks in _parts(copies):
        progress.check_cancelled()
        moved, needless = {}, []
        for task in tasks:
            preferred, *duplicates = copies[task]
            answered = [copy for copy in duplicates if client.annotations_of(copy)]
            needless += [copy for copy in duplicates if copy not in answered]
            if answered and not client.annotations_of(preferred):
                moved[task] = answered.pop(0)
                needless.append(preferred)
            several += bool(answered)
        with transaction.atomic():
            for task, number in moved.items():
                LabelStudioTask.objects.filter(project=project, task=task).update(
                    external_id=number, images_version=_version_of_found(project)
                )
        if needless:
            client.delete_tasks(project.external_id, needless)
    return several


def take_back(client: Client, project: LabelStudioProject, tasks: Collection[int], progress: Progress) -> int:
    """Remove tasks from the project that nobody answered there; return their number. Answered tasks stay, because their
    answers would be deleted with them, unless Label Studio lost the answers and a lead kept their labels.
    """
    numbers = dict(_known(project))
    mirrored = LabelStudioAnnotation.objects.filter(project=project, deleted_at=None).exclude(
        missing=LabelStudioAnnotation.Missing.KEPT
    )
    answered = set(mirrored.values_list("task_id", flat=True))
    removed = 0
    for part in _parts(sorted(numbers[task] for task in tasks if task not in answered)):
        progress.check_cancelled()
        unanswered = [number for number in part if not client.annotations_of(number)]
        if unanswered:
            client.delete_tasks(project.external_id, unanswered)
            LabelStudioTask.objects.filter(project=project, external_id__in=unanswered).delete()
        removed += len(unanswered)
    return removed


def _version_of_found(project: LabelStudioProject) -> int:
    """Return the version of picture addresses in a task that was not known here: 0 (none) if there were several
    versions."""
    return 1 if project.bridge.images_version == 1 else 0


def _parts(values: Collection[int]) -> Iterator[list[int]]:
    ordered = list(values)
    for start in range(0, len(ordered), REMOVED_AT_ONCE):
        yield ordered[start : start + REMOVED_AT_ONCE]


def _known(project: LabelStudioProject) -> list[tuple[int, int]]:
    return list(LabelStudioTask.objects.filter(project=project).values_list("task_id", "external_id"))
