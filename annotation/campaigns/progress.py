"""The progress of a campaign, by a fixed number of aggregate queries."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any, Self

from django.db.models import Count, Exists, F, OuterRef, Q, Sum
from django.db.models.functions import Coalesce, TruncDate
from django.utils import timezone

from annotation.kinds.registry import kind_of
from annotation.models import Annotation, Assignment, Campaign, Task, TaskStimulus

State = Assignment.State
Status = Annotation.Status


@dataclass(frozen=True)
class GroupProgress:
    """The progress of one identity group's images; a slot is a place for one annotator on one screen."""

    name: str
    tasks: int
    slots: int
    accepted: int


@dataclass(frozen=True)
class DayProgress:
    """Submissions of one day (in the server's time zone)."""

    day: date
    submitted: int


@dataclass(frozen=True)
class CampaignProgress:
    """Tasks by state, slots and submissions. Withdrawn tasks count in `withdrawn` only.

    Gold and practice tasks, and answers to checks, are not counted.
    """

    tasks: int
    untouched: int
    begun: int
    complete: int
    withdrawn: int
    slots: int
    free: int
    accepted: int
    leased: int
    surplus: int
    excluded: int
    revisions: int
    annotators: int
    groups: tuple[GroupProgress, ...]
    days: tuple[DayProgress, ...]
    counted_at: datetime | None = None  # None: just now

    @property
    def share(self) -> float:
        """Accepted annotations as a share of the slots; 0 without slots."""
        return self.accepted / self.slots if self.slots else 0.0

    @property
    def finished(self) -> bool:
        return 0 < self.tasks == self.complete

    def as_json(self) -> dict[str, Any]:
        """Return the values for `from_json`."""
        days = [{"day": row.day.isoformat(), "submitted": row.submitted} for row in self.days]
        values = {**asdict(self), "days": days}
        del values["counted_at"]
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        groups = tuple(GroupProgress(**row) for row in values["groups"])
        days = tuple(DayProgress(date.fromisoformat(row["day"]), row["submitted"]) for row in values["days"])
        return cls(**{**values, "groups": groups, "days": days})


def progress(campaign: Campaign, *, now: datetime | None = None) -> CampaignProgress:
    """Return the progress of `campaign`. An expired lease counts as free even before it is released."""
    now = now or timezone.now()
    tasks: dict[str, Any] = _tasks(campaign)
    holding = Assignment.objects.filter(task__campaign=campaign, task__withdrawn=False, slot__isnull=False)
    slots = holding.aggregate(
        submitted=Count("pk", filter=Q(state=State.SUBMITTED)),
        leased=Count("pk", filter=Q(state=State.LEASED, expires_at__gt=now)),
    )
    statuses = Annotation.objects.filter(campaign=campaign).aggregate(
        accepted=Count("pk", filter=Q(status=Status.ACCEPTED, is_latest=True, task__withdrawn=False)),
        surplus=Count("pk", filter=Q(status=Status.SURPLUS, is_latest=True)),
        excluded=Count("pk", filter=Q(status=Status.EXCLUDED, is_latest=True)),
        revisions=Count("pk", filter=Q(is_latest=False, status__in=Annotation.LABELS)),
    )
    # Imported labels were never leased: the number of places is the number of annotations.
    slot_count = statuses["accepted"] if campaign.imported else _slot_count(campaign)
    return CampaignProgress(
        **tasks,
        slots=slot_count,
        free=0 if campaign.imported else slot_count - slots["submitted"] - slots["leased"],
        accepted=statuses["accepted"],
        leased=slots["leased"],
        surplus=statuses["surplus"],
        excluded=statuses["excluded"],
        revisions=statuses["revisions"],
        annotators=campaign.enrolments.count(),
        groups=tuple(_groups(campaign)),
        days=tuple(_days(campaign)),
    )


def _tasks(campaign: Campaign) -> dict[str, int]:
    offered = Q(withdrawn=False)
    labelled = Q(assignments__state=State.SUBMITTED, assignments__purpose=Assignment.Purpose.LABEL)
    answered = Count("assignments", filter=labelled)
    if campaign.imported:
        answered = Count("annotations", filter=Q(annotations__is_latest=True))
    labels = campaign.tasks.filter(purpose=Task.Purpose.LABEL)
    per_task = labels.annotate(answered=answered).order_by()
    enough = Q(answered__gte=F("wanted")) if not campaign.imported else Q(answered__gt=0)
    return per_task.aggregate(
        tasks=Count("pk", filter=offered),
        untouched=Count("pk", filter=offered & Q(answered=0)),
        begun=Count("pk", filter=offered & Q(answered__gt=0) & ~enough),
        complete=Count("pk", filter=offered & enough),
        withdrawn=Count("pk", filter=Q(withdrawn=True)),
    )


def _slot_count(campaign: Campaign) -> int:
    totals = campaign.tasks.filter(withdrawn=False).aggregate(slots=Coalesce(Sum("wanted"), 0))
    return int(totals["slots"])


def _groups(campaign: Campaign) -> list[GroupProgress]:
    about_attributes = kind_of(campaign).about_attributes
    rows = _tasks_by_group(campaign) if about_attributes else _screens_by_group(campaign)
    field = "task__image__group" if about_attributes else "task__stimuli__image__group"
    accepted = dict(
        Annotation.objects.filter(
            campaign=campaign, is_latest=True, status=Status.ACCEPTED, task__withdrawn=False
        )
        .order_by()
        .values_list(field)
        .annotate(number=Count("pk", distinct=True))
    )
    groups = [
        GroupProgress(
            name=name,
            tasks=number,
            slots=accepted.get(group, 0) if campaign.imported else slot_count,
            accepted=accepted.get(group, 0),
        )
        for group, name, number, slot_count in rows
    ]
    return sorted(groups, key=lambda group: group.name)


def _tasks_by_group(campaign: Campaign) -> Any:
    """Return each group with its name, tasks and slots."""
    labels = campaign.tasks.filter(purpose=Task.Purpose.LABEL, withdrawn=False)
    tasks: Any = labels.filter(image__group__isnull=False).order_by()  # as below
    rows = tasks.values_list("image__group", "image__group__display_name")
    return rows.annotate(number=Count("pk"), slots=Sum("wanted"))


def _screens_by_group(campaign: Campaign) -> Any:
    """Return the same for screens with several images: a screen counts once for each group on it."""
    stimuli = TaskStimulus.objects.filter(
        task__campaign=campaign, task__withdrawn=False, image__group__isnull=False
    )
    earlier = TaskStimulus.objects.filter(
        task=OuterRef("task"), image__group=OuterRef("image__group"), position__lt=OuterRef("position")
    )
    rows: Any = stimuli.filter(~Exists(earlier)).order_by()  # tuples, once they are annotated
    rows = rows.values_list("image__group", "image__group__display_name")
    return rows.annotate(number=Count("pk"), slots=Sum("task__wanted"))


def _days(campaign: Campaign) -> list[DayProgress]:
    rows = (
        Annotation.objects.filter(campaign=campaign, revision=1, status__in=Annotation.LABELS)
        .order_by()
        .values(day=TruncDate("submitted_at"))
        .annotate(number=Count("pk"))
        .order_by("day")
    )
    return [DayProgress(day=row["day"], submitted=row["number"]) for row in rows]
