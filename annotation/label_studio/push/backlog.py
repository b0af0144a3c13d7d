"""How Label Studio differs from what is stored here, and which tasks nobody there is asked any more."""

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
# Label Studio takes such an answer for one and asks nobody in its place; here it is none.
_FOR_NOTHING = (State.SURPLUS, State.FURTHER, State.EXCLUDED, State.REFUSED, State.LEFT_OUT)
# These may count yet.
_UNDECIDED = (State.NEW, State.WAITING, State.CONSENT, State.FLAGGED)
# What Label Studio does not take for an answer either.
_NO_ANSWER = (State.DELETED, State.SKIPPED)


def behind(
    bridge: LabelStudioBridge,
    places: list[Place],
    live: list[LabelStudioProject],
    tasks: QuerySet[Task],
    *,
    keeps_lost: bool,
) -> list[str]:
    """Return in sentences what is there not as it is here now, and what a push would mend.

    `keeps_lost`: a lead keeps labels of answers that Label Studio lost.
    """
    present = {(project.slot, project.annotator_id) for project in live}
    missing = sum((place.slot, place.annotator_id) not in present for place in places)
    sentences = []
    if missing:
        sentences.append(f"{missing:,} project{' is' if missing == 1 else 's are'} not there yet.")
    sent = LabelStudioTask.objects.filter(project__in=live, task=OuterRef("pk"))
    unsent = tasks.filter(~Exists(sent), held__lt=F("wanted")).count()
    if unsent:
        sentences.append(f"{unsent:,} screen{' is' if unsent == 1 else 's are'} not there yet.")
    again = _asked_again(bridge) if keeps_lost else 0
    if again:
        sentences.append(
            f"{again:,} screen{' is' if again == 1 else 's are'} asked again in Label Studio although "
            f"{'its answer is' if again == 1 else 'their answers are'} kept here."
        )
    now = versions.current(bridge.campaign).pk
    if any(project.instrument_id != now for project in live):
        sentences.append("Annotators in Label Studio still see earlier guidelines.")
    blind = image_access.without_picture(bridge).values("task").distinct().count()
    if blind:
        sentences.append(
            f"{blind:,} screen{' shows no picture' if blind == 1 else 's show no picture'} there."
        )
    return sentences


def _asked_again(bridge: LabelStudioBridge) -> int:
    """Return how many tasks stand there of which Label Studio lost an answer that a lead keeps, and that need none."""
    kept_rows = lost_answers(bridge).filter(missing=LabelStudioAnnotation.Missing.KEPT)
    stands = LabelStudioTask.objects.filter(project=OuterRef("project"), task=OuterRef("task"))
    # With a screen the answers would go that are still there: so it stays.
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
    """Return how many answers are still missing that no project asks for, nor would after a push.

    Only tasks with an answer in Label Studio that does not count can lack any so, and only those are looked at.
    """
    if bridge.arrangement == LabelStudioBridge.Arrangement.PER_ANNOTATOR:
        return 0  # everybody is asked everything
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
    """Return how many answers of each state there are, by task and project."""
    counts: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    rows = LabelStudioAnnotation.objects.filter(task__in=tasks, project__in=projects).order_by()
    counted = rows.exclude(state__in=_NO_ANSWER).values_list("task", "project", "state")
    for task, project, state, number in counted.annotate(number=Count("pk")):
        counts[task, project][state] = number
    return counts
