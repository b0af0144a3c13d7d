"""Sending tasks to a project: each once, even after interruptions, and only with the data of the questions."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from django.db import transaction

from annotation.kinds.registry import kind_of
from annotation.label_studio.base.opaque_names import ref_of
from annotation.label_studio.client.rest import Client
from annotation.label_studio.format.questions.data import task_data
from annotation.label_studio.models import LabelStudioProject
from annotation.label_studio.push.image_urls import address_of
from annotation.models import Task, TaskStimulus
from foundation.database.statements import changed, rows
from jobs.progress.reporter import Progress

# Hand-written SQL: 10,000 tasks take half of the time.
_ASKED = """
    SELECT a.task_id, b.text FROM annotation_taskattribute a JOIN catalog_attribute b ON b.id = a.attribute_id
    WHERE a.task_id IN ({}) ORDER BY a.task_id, a.position
"""
_WRITE = "INSERT INTO annotation_labelstudiotask (project_id, task_id, external_id, images_version) VALUES "
# So many tasks are sent at once before their numbers are stored: more would not be faster.
FIRST, AT_ONCE = 500, 2_500


def rows_of(project: LabelStudioProject, tasks: Collection[int]) -> list[tuple[int, dict[str, Any]]]:
    """Return the data of each task, ordered by its `ref`: this order reveals nothing."""
    texts = defaultdict(list)
    for task, text in rows(_ASKED.format(_places(tasks)), list(tasks)) if tasks else ():
        texts[task].append(text)
    kind = kind_of(project.bridge.campaign)
    stimuli = {} if kind.about_attributes else _stimuli_of(project, tasks)
    task_rows = []
    for pk, public_id, image in (
        Task.objects.filter(pk__in=tasks).order_by().values_list("pk", "public_id", "image__public_id")
    ):
        row: dict[str, Any] = {"ref": ref_of(project, public_id)}
        if not kind.about_attributes:
            row |= task_data(kind, stimuli[pk])
        elif kind.rates_attributes:
            row["attribute"] = texts[pk][0]
        else:
            assert image is not None
            row["image"] = address_of(image, bridge=project.bridge, project=project)
            row["attributes"] = [{"value": text} for text in texts[pk]]
        task_rows.append((pk, row))
    return sorted(task_rows, key=lambda task_row: str(task_row[1]["ref"]))


def _stimuli_of(project: LabelStudioProject, tasks: Collection[int]) -> dict[int, list[str]]:
    """Return the stimuli of each task, in the order shown: texts, or addresses of images."""
    shown = defaultdict(list)
    stimuli = TaskStimulus.objects.filter(task__in=tasks).order_by("task", "position")
    for task, text, image in stimuli.values_list("task_id", "text", "image__public_id"):
        one = text if image is None else address_of(image, bridge=project.bridge, project=project)
        shown[task].append(one)
    return shown


def send(
    client: Client, project: LabelStudioProject, tasks: Collection[int], progress: Progress
) -> Iterator[int]:
    """Send tasks that the project lacks; yield the number of tasks sent at a time.

    While Label Studio stores some tasks, the next are prepared. Their numbers are stored before more are sent, because
    an answer to an unknown task cannot be assigned.
    """
    public_ids = Task.objects.filter(pk__in=tasks).values_list("pk", "public_id")
    ordered = [pk for _, pk in sorted((ref_of(project, public_id), pk) for pk, public_id in public_ids)]
    under_way: _UnderWay | None = None
    with ThreadPoolExecutor(max_workers=1) as sender:
        try:
            for part in _parts(ordered):
                progress.check_cancelled()
                ready = rows_of(project, part)
                before, under_way = under_way, None
                done_count = 0 if before is None else _done(project, before, progress)
                data = [row for _, row in ready]
                under_way = (
                    [pk for pk, _ in ready],
                    sender.submit(client.import_tasks, project.external_id, data),
                )
                if done_count:
                    yield done_count
        finally:
            # Also for tasks being sent when somebody stops the job. If the process is killed before this, the next push
            # finds the tasks by their `ref` and stores their numbers.
            last_count = 0 if under_way is None else _done(project, under_way, progress)
        if last_count:
            yield last_count


_UnderWay = tuple[list[int], Future[list[int]]]


def _parts(tasks: Sequence[int]) -> Iterator[Sequence[int]]:
    """Divide tasks into batches: small at first, so that Label Studio starts working soon."""
    start, size = 0, FIRST
    while start < len(tasks):
        yield tasks[start : start + size]
        start, size = start + size, min(2 * size, AT_ONCE)


def _done(project: LabelStudioProject, under_way: _UnderWay, progress: Progress) -> int:
    """Wait until Label Studio has stored tasks, store their numbers, and return how many there are."""
    tasks, numbers = under_way
    numbers_by_task = dict(zip(tasks, numbers.result(), strict=True))
    write_down(project, numbers_by_task, images_version=project.bridge.images_version)
    progress.advance(len(tasks), message="tasks sent")
    return len(tasks)


@transaction.atomic
def write_down(project: LabelStudioProject, numbers: dict[int, int], *, images_version: int) -> None:
    """Store the numbers of our tasks in the project, and the version of their pictures' addresses."""
    values = [(project.pk, task, number, images_version) for task, number in numbers.items()]
    for start in range(0, len(values), AT_ONCE):
        part = values[start : start + AT_ONCE]
        changed(
            _WRITE + ", ".join(["(%s, %s, %s, %s)"] * len(part)), [value for row in part for value in row]
        )


def _places(values: Collection[int]) -> str:
    return ", ".join(["%s"] * len(values))
