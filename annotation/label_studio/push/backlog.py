"""What in a Label Studio is not as it is here now, and what nobody over there is asked any more."""

from collections import Counter, defaultdict
from collections.abc import Collection

from django.db.models import Count, Exists, F, OuterRef, QuerySet

from annotation.campaigns.instruments import versions
from annotation.label_studio.push import image_access
from annotation.label_studio.push.layout import Place, lost_answers
from annotation.models import (
    LabelStudioAnnotation,
    LabelStudioBridge,
    LabelStudioProject,
    LabelStudioTask,
    Task,
)

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
    kept: bool,
) -> list[str]:
    """Return in sentences what is there not as it is here now, and what a push would mend.

    `kept`: a lead keeps labels of answers that Label Studio lost.
    """
    there = {(one.slot, one.annotator_id) for one in live}
    missing = sum((place.slot, place.annotator_id) not in there for place in places)
    said = []
    if missing:
        said.append(f"{missing:,} project{' is' if missing == 1 else 's are'} not there yet.")
    sent = LabelStudioTask.objects.filter(project__in=live, task=OuterRef("pk"))
    unsent = tasks.filter(~Exists(sent), held__lt=F("wanted")).count()
    if unsent:
        said.append(f"{unsent:,} screen{' is' if unsent == 1 else 's are'} not there yet.")
    again = _asked_again(bridge) if kept else 0
    if again:
        said.append(
            f"{again:,} screen{' is' if again == 1 else 's are'} asked again in Label Studio although "
            f"{'its answer is' if again == 1 else 'their answers are'} kept here."
        )
    now = versions.current(bridge.campaign).pk
    if any(one.instrument_id != now for one in live):
        said.append("Annotators there still read earlier guidelines.")
    blind = image_access.without_picture(bridge).values("task").distinct().count()
    if blind:
        said.append(f"{blind:,} screen{' shows no picture' if blind == 1 else 's show no picture'} there.")
    return said


def _asked_again(bridge: LabelStudioBridge) -> int:
    """Return how many tasks stand there of which Label Studio lost an answer that a lead keeps, and that need none."""
    kept = lost_answers(bridge).filter(missing=LabelStudioAnnotation.Missing.KEPT)
    stands = LabelStudioTask.objects.filter(project=OuterRef("project"), task=OuterRef("task"))
    # With a screen the answers would go that are still there: so it stays.
    there = LabelStudioAnnotation.objects.filter(
        project=OuterRef("project"), task=OuterRef("task"), deleted_at=None, missing=""
    )
    rows = kept.filter(Exists(stands), ~Exists(there))
    if bridge.arrangement == LabelStudioBridge.Arrangement.SHARED:
        rows = rows.filter(task__held__gte=F("task__wanted"))
    return rows.values("task").distinct().count()


def unasked(
    bridge: LabelStudioBridge, places: list[Place], live: list[LabelStudioProject], tasks: QuerySet[Task]
) -> int:
    """Return how many answers are still missing that no project asks for, nor would after a push.

    Only tasks with an answer over there that counts for nothing can lack any so, and only those are looked at.
    """
    if bridge.arrangement == LabelStudioBridge.Arrangement.PER_ANNOTATOR:
        return 0  # everybody is asked everything
    used = LabelStudioAnnotation.objects.filter(project__in=live, state__in=_FOR_NOTHING, task__in=tasks)
    lacking = tasks.filter(pk__in=used.values("task"), held__lt=F("wanted"))
    lacks = {pk: wanted - held for pk, wanted, held in lacking.values_list("pk", "wanted", "held")}
    if not lacks:
        return 0
    each = {(one.slot, one.annotator_id): one.annotations_per_task for one in places}
    asks = {one.pk: each.get((one.slot, one.annotator_id), 0) for one in live}
    states = _states(lacks, asks)
    held: dict[int, list[int]] = defaultdict(list)
    sent = LabelStudioTask.objects.filter(task__in=lacks, project__in=asks)
    for task, project in sent.values_list("task", "project"):
        held[task].append(project)
    nobody = 0
    for task, lack in lacks.items():
        answered = {project: states[task, project] for project in held[task]}
        can = sum(
            max(0, asks[project] - found.total())
            + sum(n for state, n in found.items() if state in _UNDECIDED)
            for project, found in answered.items()
        )
        counted = sum(found[State.COUNTED] for found in answered.values())
        pushed = max(0, min(lack + counted, len(places)) - len(answered)) * places[0].annotations_per_task
        nobody += max(0, lack - can - pushed)
    return nobody


def _states(tasks: Collection[int], projects: Collection[int]) -> dict[tuple[int, int], Counter[str]]:
    """Return how many answers of each state there are, by task and project."""
    found: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    rows = LabelStudioAnnotation.objects.filter(task__in=tasks, project__in=projects).order_by()
    counted = rows.exclude(state__in=_NO_ANSWER).values_list("task", "project", "state")
    for task, project, state, number in counted.annotate(number=Count("pk")):
        found[task, project][state] = number
    return found
