"""How far a campaign is: a handful of aggregate queries, whatever its size."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.db.models import Count, F, Max, Q, Sum
from django.db.models.functions import Coalesce, TruncDate
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign, Task

State = Assignment.State
Status = Annotation.Status


@dataclass(frozen=True)
class AnnotatorProgress:
    """What one annotator did so far."""

    pseudonym: str
    origin: str
    state: str
    accepted: int
    surplus: int
    excluded: int
    skipped: int
    expired: int
    leased: int
    active_seconds: float
    last_submitted_at: datetime | None

    @property
    def submitted(self) -> int:
        return self.accepted + self.surplus + self.excluded


@dataclass(frozen=True)
class GroupProgress:
    """How far one identity group's images are; slots are places for one annotator on one screen."""

    name: str
    tasks: int
    slots: int
    accepted: int


@dataclass(frozen=True)
class DayProgress:
    """What came in on one day (in the server's time zone)."""

    day: date
    submitted: int


@dataclass(frozen=True)
class CampaignProgress:
    """Tasks by state, slots, and who did how much. Withdrawn tasks are counted apart and nowhere else.

    Gold and practice tasks, and what was answered to checks, are no part of it.
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
    annotators: tuple[AnnotatorProgress, ...]
    groups: tuple[GroupProgress, ...]
    days: tuple[DayProgress, ...]

    @property
    def share(self) -> float:
        """Accepted annotations as a share of those wanted; 0 where nothing is wanted."""
        return self.accepted / self.slots if self.slots else 0.0

    @property
    def finished(self) -> bool:
        return 0 < self.tasks == self.complete


def progress(campaign: Campaign, *, now: datetime | None = None) -> CampaignProgress:
    """Return how far `campaign` is. A lease that ran out counts as free, though nobody released it yet."""
    now = now or timezone.now()
    tasks = _tasks(campaign)
    held = Assignment.objects.filter(task__campaign=campaign, task__withdrawn=False, slot__isnull=False)
    slots = held.aggregate(
        submitted=Count("pk", filter=Q(state=State.SUBMITTED)),
        leased=Count("pk", filter=Q(state=State.LEASED, expires_at__gt=now)),
    )
    statuses = Annotation.objects.filter(campaign=campaign).aggregate(
        accepted=Count("pk", filter=Q(status=Status.ACCEPTED, is_latest=True, task__withdrawn=False)),
        surplus=Count("pk", filter=Q(status=Status.SURPLUS, is_latest=True)),
        excluded=Count("pk", filter=Q(status=Status.EXCLUDED, is_latest=True)),
        revisions=Count("pk", filter=Q(is_latest=False, status__in=Annotation.LABELS)),
    )
    # Imported labels were never leased: there are as many places as annotations.
    wanted = statuses["accepted"] if campaign.imported else _wanted(campaign)
    return CampaignProgress(
        **tasks,
        slots=wanted,
        free=0 if campaign.imported else wanted - slots["submitted"] - slots["leased"],
        accepted=statuses["accepted"],
        leased=slots["leased"],
        surplus=statuses["surplus"],
        excluded=statuses["excluded"],
        revisions=statuses["revisions"],
        annotators=tuple(_annotators(campaign, now)),
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


def _wanted(campaign: Campaign) -> int:
    return campaign.tasks.filter(withdrawn=False).aggregate(wanted=Coalesce(Sum("wanted"), 0))["wanted"]


def _annotators(campaign: Campaign, now: datetime) -> list[AnnotatorProgress]:
    latest = Annotation.objects.filter(campaign=campaign, is_latest=True).order_by().values("annotator")
    done = _by_annotator(
        latest.annotate(
            accepted=Count("pk", filter=Q(status=Status.ACCEPTED)),
            surplus=Count("pk", filter=Q(status=Status.SURPLUS)),
            excluded=Count("pk", filter=Q(status=Status.EXCLUDED)),
            active_seconds=Coalesce(Sum("active_seconds"), 0.0),
            last_submitted_at=Max("submitted_at"),
        )
    )
    given_out = Assignment.objects.filter(task__campaign=campaign).order_by().values("annotator")
    ran_out = Q(state=State.LEASED, expires_at__lte=now)
    leases = _by_annotator(
        given_out.annotate(
            skipped=Count("pk", filter=Q(state=State.SKIPPED)),
            expired=Count("pk", filter=Q(state=State.EXPIRED) | ran_out),
            leased=Count("pk", filter=Q(state=State.LEASED, expires_at__gt=now)),
        )
    )
    nothing: dict[str, Any] = dict.fromkeys(("accepted", "surplus", "excluded"), 0)
    nothing |= dict.fromkeys(("skipped", "expired", "leased"), 0)
    nothing |= {"active_seconds": 0.0, "last_submitted_at": None}
    return [
        AnnotatorProgress(
            pseudonym=one.annotator.pseudonym,
            origin=one.annotator.origin,
            state=one.state,
            **(nothing | done.get(one.annotator_id, {}) | leases.get(one.annotator_id, {})),
        )
        for one in campaign.enrolments.select_related("annotator").order_by("pk")
    ]


def _by_annotator(rows: Iterable[Mapping[str, Any]]) -> dict[int, dict[str, Any]]:
    return {
        row["annotator"]: {name: value for name, value in row.items() if name != "annotator"} for row in rows
    }


def _groups(campaign: Campaign) -> list[GroupProgress]:
    labels = campaign.tasks.filter(purpose=Task.Purpose.LABEL, withdrawn=False)
    tasks = labels.filter(image__group__isnull=False).order_by()
    wanted = tasks.values("image__group", "image__group__display_name").annotate(
        number=Count("pk"), slots=Sum("wanted")
    )
    accepted = dict(
        Annotation.objects.filter(
            campaign=campaign, is_latest=True, status=Status.ACCEPTED, task__withdrawn=False
        )
        .order_by()
        .values_list("task__image__group")
        .annotate(number=Count("pk"))
    )
    found = [
        GroupProgress(
            name=row["image__group__display_name"],
            tasks=row["number"],
            slots=accepted.get(row["image__group"], 0) if campaign.imported else row["slots"],
            accepted=accepted.get(row["image__group"], 0),
        )
        for row in wanted
    ]
    return sorted(found, key=lambda group: group.name)


def _days(campaign: Campaign) -> list[DayProgress]:
    rows = (
        Annotation.objects.filter(campaign=campaign, revision=1, status__in=Annotation.LABELS)
        .order_by()
        .values(day=TruncDate("submitted_at"))
        .annotate(number=Count("pk"))
        .order_by("day")
    )
    return [DayProgress(day=row["day"], submitted=row["number"]) for row in rows]
