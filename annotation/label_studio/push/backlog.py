"""Differences between Label Studio and the data here, and missing answers that Label Studio asks nobody for."""

from collections import Counter, defaultdict
from collections.abc import Collection

from django.db.models import Count, Exists, F, OuterRef, QuerySet

from annotation.campaigns.instruments import versions
from annotation.label_studio.models import (
    LabelStudioAnnotation,
    LabelStudioBridge,
    LabelStudioProject,
    LabelStudioTask,
)
from annotation.label_studio.push import image_access
from annotation.label_studio.push.layout import Place, lost_answers
from annotation.models import Task

State = LabelStudioAnnotation.State
# Label Studio counts such an answer and asks nobody else; here it does not count.
_FOR_NOTHING = (State.SURPLUS, State.FURTHER, State.EXCLUDED, State.REFUSED, State.LEFT_OUT)
# These may still count.
_UNDECIDED = (State.NEW, State.WAITING, State.CONSENT, State.FLAGGED)
# States that Label Studio does not count as answers either.
_NO_ANSWER = (State.DELETED, State.SKIPPED)


def behind(
    bridge: LabelStudioBridge,
    places: list[Place],
    live: list[LabelStudioProject],
    tasks: QuerySet[Task],
    *,
    keeps_lost: bool,
) -> list[str]:
    """Return sentences about differences between Label Studio and the data here that a push would repair.

    `keeps_lost`: a lead has kept labels of answers that Label Studio lost.
    """
    present = {(project.slot, project.annotator_id) for project in live}
    missing = sum((place.slot, place.annotator_id) not in present for place in places)
    sentences = []
    if missing:
        sentences.append(f"{missing:,} project{' is' if missing == 1 else 's are'} not in Label Studio yet.")
    sent = LabelStudioTask.objects.filter(project__in=live, task=OuterRef("pk"))
    unsent = tasks.filter(~Exists(sent), held__lt=F("wanted")).count()
    if unsent:
        sentences.append(f"{unsent:,} screen{' is' if unsent == 1 else 's are'} not in Label Studio yet.")
    again = _asked_again(bridge) if keeps_lost else 0
    if again:
        sentences.append(
            f"{again:,} screen{' is' if again == 1 else 's are'} asked again in Label Studio although "
            f"{'its answer is' if again == 1 else 'their answers are'} kept in Stereoscope."
        )
    now = versions.current(bridge.campaign).pk
    if any(project.instrument_id != now for project in live):
        sentences.append("Annotators in Label Studio still see earlier guidelines.")
    blind = image_access.without_picture(bridge).values("task").distinct().count()
    if blind:
        sentences.append(
            f"{blind:,} screen{' shows no picture' if blind == 1 else 's show no picture'} in Label Studio."
        )
    return sentences


def _asked_again(bridge: LabelStudioBridge) -> int:
    """Return the number of tasks there that need no answer, because a lead kept the label of a lost answer."""
    kept_rows = lost_answers(bridge).filter(missing=LabelStudioAnnotation.Missing.KEPT)
    stands = LabelStudioTask.objects.filter(project=OuterRef("project"), task=OuterRef("task"))
    # Deleting a screen would delete its other answers too, so it stays.
    answered_rows = LabelStudioAnnotation.objects.filter(
        project=OuterRef("project"), task=OuterRef("task"), deleted_at=None, missing=""
    )
    rows = kept_rows.filter(Exists(stands), ~Exists(answered_rows))
    if bridge.arrangement == LabelStudioBridge.Arrangement.SHARED:
        rows = rows.filter(task__held__gte=F("task__wanted"))
    return rows.values("task").distinct().count()


def unasked(
    bridge: LabelStudioBridge, places: list[Place], live: list[LabelStudioProject], tasks: QuerySet[Task]
) -> int:
    """Return the number of missing answers for which no project asks, not even after a push.

    Only tasks with an answer in Label Studio that does not count can lack answers in this way, so only these are
    checked.
    """
    if bridge.arrangement == LabelStudioBridge.Arrangement.PER_ANNOTATOR:
        return 0  # every annotator is asked about every task
    used = LabelStudioAnnotation.objects.filter(project__in=live, state__in=_FOR_NOTHING, task__in=tasks)
    lacking = tasks.filter(pk__in=used.values("task"), held__lt=F("wanted"))
    lacks = {
        pk: wanted_count - held_count
        for pk, wanted_count, held_count in lacking.values_list("pk", "wanted", "held")
    }
    if not lacks:
        return 0
    per_place = {(place.slot, place.annotator_id): place.annotations_per_task for place in places}
    asks = {place.pk: per_place.get((place.slot, place.annotator_id), 0) for place in live}
    states = _states(lacks, asks)
    held_count: dict[int, list[int]] = defaultdict(list)
    sent = LabelStudioTask.objects.filter(task__in=lacks, project__in=asks)
    for task, project in sent.values_list("task", "project"):
        held_count[task].append(project)
    nobody = 0
    for task, lack in lacks.items():
        answered = {project: states[task, project] for project in held_count[task]}
        can = sum(
            max(0, asks[project] - task_counts.total())
            + sum(n for state, n in task_counts.items() if state in _UNDECIDED)
            for project, task_counts in answered.items()
        )
        counted = sum(task_counts[State.COUNTED] for task_counts in answered.values())
        pushed = max(0, min(lack + counted, len(places)) - len(answered)) * places[0].annotations_per_task
        nobody += max(0, lack - can - pushed)
    return nobody


def _states(tasks: Collection[int], projects: Collection[int]) -> dict[tuple[int, int], Counter[str]]:
    """Return the number of answers in each state, by task and project."""
    counts: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    rows = LabelStudioAnnotation.objects.filter(task__in=tasks, project__in=projects).order_by()
    counted = rows.exclude(state__in=_NO_ANSWER).values_list("task", "project", "state")
    for task, project, state, number in counted.annotate(number=Count("pk")):
        counts[task, project][state] = number
    return counts
