"""The projects that an arrangement needs, and the tasks of each."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet

from annotation.label_studio.base.opaque_names import place_name
from annotation.label_studio.models import (
    LabelStudioAnnotation,
    LabelStudioBridge,
    LabelStudioProject,
    LabelStudioTask,
)
from annotation.models import Annotation, Campaign, Enrolment, Task

_Arrangement = LabelStudioBridge.Arrangement
_COUNTED, Missing = LabelStudioAnnotation.State.COUNTED, LabelStudioAnnotation.Missing


@dataclass(frozen=True)
class Place:
    """One project of the arrangement. `number` distinguishes a campaign's projects for people."""

    number: int | None
    annotations_per_task: int
    slot: int | None = None
    annotator_id: int | None = None

    @property
    def name(self) -> str:
        """Return the name of the place; it never changes."""
        return place_name(self.slot, self.annotator_id)


def places_of(bridge: LabelStudioBridge, campaign: Campaign) -> list[Place]:
    """Return the projects that the campaign needs now."""
    per_task = campaign.annotators_per_task
    if bridge.arrangement == _Arrangement.SHARED:
        return [Place(None, per_task)]
    if bridge.arrangement == _Arrangement.PER_SLOT:
        return [Place(slot, 1, slot=slot) for slot in range(1, per_task + 1)]
    enrolled = Enrolment.objects.filter(campaign=campaign).order_by("pk").values_list("annotator_id", "state")
    return [
        Place(number, 1, annotator_id=annotator)
        for number, (annotator, state) in enumerate(enrolled, start=1)
        if state == Enrolment.State.ACTIVE
    ]


@dataclass(frozen=True)
class Share:
    """The changes of one project: keys of our tasks that it lacks, and of tasks that it no longer needs."""

    missing: frozenset[int]
    needless: frozenset[int]


class Sharing:
    """Distributes the campaign's tasks among its projects, one project after the other.

    No task is given to more people than it needs: tasks answered on our own pages, or in a project that no longer
    exists, are not asked again.
    """

    def __init__(self, bridge: LabelStudioBridge, campaign: Campaign) -> None:
        self._shared = bridge.arrangement == _Arrangement.SHARED
        self._per_slot = bridge.arrangement == _Arrangement.PER_SLOT
        self._wanted = campaign.annotators_per_task
        self._campaign = campaign
        tasks = Task.objects.filter(campaign=campaign, purpose=Task.Purpose.LABEL, withdrawn=False)
        # Task → number of missing answers, from any annotator.
        self._open = {
            pk: wanted_count - held_count
            for pk, wanted_count, held_count in tasks.values_list("pk", "wanted", "held")
        }
        live = {"project__bridge": bridge, "project__gone_at": None}
        # If an answer was lost together with its task, no task there asks for another one.
        stands = LabelStudioTask.objects.filter(project=OuterRef("project"), task=OuterRef("task"))
        counted = LabelStudioAnnotation.objects.filter(Exists(stands), **live, state=_COUNTED)
        self._counted = _per_task(counted)
        self._asked = Counter(_per_task(LabelStudioTask.objects.filter(**live)))
        self._lost = _lost(bridge)

    def of(self, project: LabelStudioProject) -> Share:
        """Return the changes of the project. Call it once for each project, and carry out the changes."""
        sent_ids = set(LabelStudioTask.objects.filter(project=project).values_list("task_id", flat=True))
        missing = {pk for pk in self._open.keys() - sent_ids if self._asks(pk, project)}
        missing -= self._answered_by(project)
        self._asked.update(missing)
        needless = {pk for pk in sent_ids if self._open.get(pk, 0) <= 0}
        if project.slot is not None and project.slot > self._wanted:
            needless = sent_ids
        elif not self._shared:
            needless |= sent_ids & self._lost[project.pk, Missing.KEPT]
        return Share(frozenset(missing), frozenset(needless))

    def _asks(self, task: int, project: LabelStudioProject) -> bool:
        if not self._per_slot:
            return self._open[task] > 0
        if project.slot is None or project.slot > self._wanted:
            return False
        if any(task in self._lost[project.pk, missing] for missing in Missing.values):
            return False  # its answer counts although Label Studio no longer has it
        # Each project with the task gives one answer, or has given it.
        return self._asked[task] < self._open[task] + self._counted.get(task, 0)

    def _answered_by(self, project: LabelStudioProject) -> set[int]:
        if project.annotator_id is None:
            return set()
        answered = Annotation.objects.filter(campaign=self._campaign, annotator=project.annotator_id)
        return set(answered.order_by().values_list("task_id", flat=True).distinct())


def lost_answers(bridge: LabelStudioBridge) -> QuerySet[LabelStudioAnnotation]:
    """Return the answers that Label Studio lost but that still count."""
    rows = LabelStudioAnnotation.objects.filter(project__bridge=bridge, project__gone_at=None)
    return rows.filter(state=_COUNTED, task__isnull=False).exclude(missing="")


def _lost(bridge: LabelStudioBridge) -> dict[tuple[int, str], set[int]]:
    """Return the tasks of such answers by project and by whether a lead has decided to keep them."""
    task_ids: dict[tuple[int, str], set[int]] = defaultdict(set)
    for project, missing, task in lost_answers(bridge).values_list("project", "missing", "task"):
        task_ids[project, missing].add(task or 0)
    return task_ids


def _per_task(rows: QuerySet[Any]) -> dict[int, int]:
    counted = rows.filter(task__isnull=False).order_by().values("task").annotate(number=Count("pk"))
    return dict(counted.values_list("task", "number"))
