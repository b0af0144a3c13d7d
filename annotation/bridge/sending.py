"""Tasks go to a project over there: each once, whatever was interrupted, and nothing in them but what is asked."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from django.db import transaction

from annotation.bridge.addresses import address_of
from annotation.bridge.client import Client
from annotation.bridge.refs import ref_of
from annotation.models import (
    Campaign,
    LabelStudioAnnotation,
    LabelStudioProject,
    LabelStudioTask,
    Task,
)
from jobs.progress import Progress
from web.statements import changed, rows

# Written by hand: 10,000 tasks take half of the time.
_ASKED = """
    SELECT a.task_id, b.text FROM annotation_taskattribute a JOIN catalog_attribute b ON b.id = a.attribute_id
    WHERE a.task_id IN ({}) ORDER BY a.task_id, a.position
"""
_WRITE = "INSERT INTO annotation_labelstudiotask (project_id, task_id, external_id) VALUES "
# So many are sent before their numbers are written down.
AT_ONCE = 1000


def rows_of(project: LabelStudioProject, tasks: Collection[int]) -> list[tuple[int, dict[str, Any]]]:
    """Return what each task of ours says over there, ordered by its `ref`: in an order that says nothing."""
    texts = defaultdict(list)
    for task, text in rows(_ASKED.format(_places(tasks)), list(tasks)) if tasks else ():
        texts[task].append(text)
    rates = project.bridge.campaign.kind == Campaign.Kind.ATTRIBUTE_LIKERT
    found = []
    for pk, public_id, image in (
        Task.objects.filter(pk__in=tasks).order_by().values_list("pk", "public_id", "image__public_id")
    ):
        row: dict[str, Any] = {"ref": ref_of(project, public_id)}
        if rates:
            row["attribute"] = texts[pk][0]
        else:
            assert image is not None
            row["image"] = address_of(image, bridge=project.bridge, project=project)
            row["attributes"] = [{"value": text} for text in texts[pk]]
        found.append((pk, row))
    return sorted(found, key=lambda one: str(one[1]["ref"]))


def send(
    client: Client, project: LabelStudioProject, tasks: Collection[int], progress: Progress
) -> Iterator[int]:
    """Send tasks that the project lacks; yield how many at a time.

    While Label Studio takes some, the next are made ready, and those before are written down.
    """
    named = Task.objects.filter(pk__in=tasks).values_list("pk", "public_id")
    ordered = [pk for _, pk in sorted((ref_of(project, public_id), pk) for pk, public_id in named)]
    under_way: tuple[list[int], Future[list[int]]] | None = None
    with ThreadPoolExecutor(max_workers=1) as sender:
        try:
            for start in range(0, len(ordered), AT_ONCE):
                progress.check_cancelled()
                ready = rows_of(project, ordered[start : start + AT_ONCE])
                taken = None if under_way is None else _taken(under_way)
                data = [row for _, row in ready]
                under_way = (
                    [pk for pk, _ in ready],
                    sender.submit(client.import_tasks, project.external_id, data),
                )
                if taken is not None:
                    yield _done(project, taken, progress)
        finally:
            # Also what is under way when somebody stops the job. Killed before this, the next push finds the tasks
            # there by their `ref` and writes them down.
            if under_way is not None:
                write_down(project, last := _taken(under_way))
        if under_way is not None:
            progress.advance(len(last), message="tasks sent")
            yield len(last)


def _taken(under_way: tuple[list[int], Future[list[int]]]) -> dict[int, int]:
    """Wait until Label Studio has taken tasks; return their numbers there."""
    tasks, numbers = under_way
    return dict(zip(tasks, numbers.result(), strict=True))


def _done(project: LabelStudioProject, numbers: dict[int, int], progress: Progress) -> int:
    write_down(project, numbers)
    progress.advance(len(numbers), message="tasks sent")
    return len(numbers)


@transaction.atomic
def write_down(project: LabelStudioProject, numbers: dict[int, int]) -> None:
    """Remember under which numbers tasks of ours stand in the project."""
    held = [(project.pk, task, number) for task, number in numbers.items()]
    for start in range(0, len(held), AT_ONCE):
        part = held[start : start + AT_ONCE]
        changed(_WRITE + ", ".join(["(%s, %s, %s)"] * len(part)), [value for row in part for value in row])


def _places(values: Collection[int]) -> str:
    return ", ".join(["%s"] * len(values))


def take_stock(client: Client, project: LabelStudioProject, number: int | None) -> int:
    """Compare what the project holds (`number` of tasks) with what is known here; return how many tasks of ours were
    found there that were not known.

    Ours that are gone are forgotten, so that they are sent again; of two that are the same task the second goes.
    """
    known = dict(_known(project))
    if number == len(known):
        return 0
    tasks = Task.objects.filter(campaign=project.bridge.campaign_id, purpose=Task.Purpose.LABEL)
    ours = {ref_of(project, public_id): pk for pk, public_id in tasks.values_list("pk", "public_id")}
    there: dict[int, list[int]] = defaultdict(list)
    for external_id, ref in client.task_refs(project.external_id):
        if ref in ours:
            there[ours[ref]].append(external_id)
    found = {task: min(numbers) for task, numbers in there.items() if task not in known}
    gone = [task for task in known if known[task] not in there[task]]
    moved = {task: min(there[task]) for task in gone if there[task]}
    with transaction.atomic():
        LabelStudioTask.objects.filter(project=project, task__in=gone).delete()
        write_down(project, found | moved)
    kept = dict(_known(project))
    twice = [one for task, numbers in there.items() for one in numbers if one != kept[task]]
    remove(client, project, twice)
    return len(found) + len(moved)


def take_back(client: Client, project: LabelStudioProject, tasks: Collection[int]) -> int:
    """Remove tasks from the project that nobody answered there; return how many. Answered ones stay: with them their
    answers would go.
    """
    numbers = dict(_known(project))
    mirrored = LabelStudioAnnotation.objects.filter(project=project, task__in=tasks, deleted_at=None)
    answered = set(mirrored.values_list("task_id", flat=True))
    removed = remove(client, project, [numbers[task] for task in tasks if task not in answered])
    LabelStudioTask.objects.filter(project=project, external_id__in=removed).delete()
    return len(removed)


def remove(client: Client, project: LabelStudioProject, numbers: Collection[int]) -> list[int]:
    """Remove tasks over there, but for those that have an annotation by now; return which."""
    unanswered = [one for one in sorted(numbers) if not client.annotations_of(one)]
    for start in range(0, len(unanswered), AT_ONCE):
        client.delete_tasks(project.external_id, unanswered[start : start + AT_ONCE])
    return unanswered


def _known(project: LabelStudioProject) -> list[tuple[int, int]]:
    return list(LabelStudioTask.objects.filter(project=project).values_list("task_id", "external_id"))
