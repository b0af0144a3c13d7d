"""The live part of a campaign's page: progress, pace and forecast."""

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from math import ceil
from typing import Any

from django.db.models import Max
from django.utils import timezone

from annotation.campaigns import feasibility, snapshots
from annotation.campaigns.planning.cells import CellPeople
from annotation.campaigns.progress import CampaignProgress, DayProgress, GroupProgress, progress
from annotation.lead.people.annotator_lines import AnnotatorLine, annotator_lines, lines_of
from annotation.models import Annotation, Campaign

SUBJECT = "progress"  # of `annotation.campaigns.snapshots`
# The pace is that of the last week, over at least two days with answers.
PACE_DAYS = 7
DAYS_FOR_A_FORECAST = 2
ANNOTATORS_SHOWN = 10
DAYS_SHOWN = 14


@dataclass(frozen=True)
class Forecast:
    """When all answers may be in, at the pace of the last week."""

    per_day: float
    finished_on: date


@dataclass(frozen=True)
class ProgressPage:
    """The data of a campaign's progress for its page."""

    progress: CampaignProgress
    forecast: Forecast | None
    latest: list[AnnotatorLine]
    days: list[DayProgress]
    live: bool
    quotas: tuple[str, ...]  # obstacles to the campaign's quotas
    cells: list[CellPeople]  # the people whom they ask for, and the number of participants
    counted_at: datetime | None = None  # None: just now

    @property
    def segments(self) -> list[tuple[str, int, str]]:
        totals = self.progress
        return [
            ("answered", totals.accepted, "done"),
            ("open now", totals.leased, "active"),
            ("waiting", max(totals.free, 0), "waiting"),
        ]

    @property
    def groups(self) -> list[tuple[GroupProgress, float | None]]:
        """Each group with the share of its answers that are in."""
        return [
            (group, group.accepted / group.slots if group.slots else None) for group in self.progress.groups
        ]

    @property
    def busiest_day(self) -> int:
        return max((day.submitted for day in self.days), default=1)


def progress_page(campaign: Campaign, *, wait: bool = False) -> ProgressPage | None:
    """Return the progress of `campaign` for its page; None while a large one is first counted, unless `wait`."""
    counted = snapshots.read(campaign, SUBJECT, wait=wait)
    if counted.pending:
        return None
    campaign_progress = CampaignProgress.from_json(counted.value["progress"])
    latest = counted.value["latest"]
    enrolments = campaign.enrolments.filter(pk__in=latest).select_related("annotator")
    lines = lines_of(campaign, enrolments, latest)
    cells, of_people = feasibility.shown_people(campaign)
    lines.sort(key=lambda line: line.last_active or timezone.now(), reverse=True)
    return ProgressPage(
        progress=campaign_progress,
        forecast=forecast(campaign_progress, today=timezone.localdate())
        if campaign.state == Campaign.State.OPEN
        else None,
        latest=lines,
        days=list(campaign_progress.days[-DAYS_SHOWN:]),
        live=campaign.state in {Campaign.State.OPEN, Campaign.State.PAUSED},
        quotas=(*feasibility.obstacles(campaign), *of_people),
        cells=cells,
        counted_at=counted.counted_at,
    )


def shown_progress(campaign: Campaign) -> CampaignProgress:
    """Return the progress of `campaign`; for a large one from the last count."""
    counted = snapshots.read(campaign, SUBJECT, wait=True)
    return replace(CampaignProgress.from_json(counted.value["progress"]), counted_at=counted.counted_at)


@snapshots.register(SUBJECT)
def _count(campaign: Campaign, _: str) -> dict[str, Any]:
    """Count the numbers in the polled part of the page."""
    answers = Annotation.objects.filter(campaign=campaign, is_latest=True)
    latest = answers.order_by().values("annotator").annotate(last=Max("submitted_at"))
    people = latest.order_by("-last").values_list("annotator", flat=True)[:ANNOTATORS_SHOWN]
    enrolments = campaign.enrolments.filter(annotator__in=list(people)).select_related("annotator")
    return {
        "progress": progress(campaign).as_json(),
        "latest": {str(line.enrolment.pk): line.as_json() for line in annotator_lines(campaign, enrolments)},
    }


def forecast(campaign_progress: CampaignProgress, *, today: date) -> Forecast | None:
    """Return when `found` may be finished; None before there are two days from which to compute a pace."""
    remaining = campaign_progress.slots - campaign_progress.accepted
    if len(campaign_progress.days) < DAYS_FOR_A_FORECAST or remaining <= 0:
        return None
    first_day = max(campaign_progress.days[0].day, today - timedelta(days=PACE_DAYS - 1))
    recent = sum(day.submitted for day in campaign_progress.days if day.day >= first_day)
    per_day = recent / ((today - first_day).days + 1)
    if not per_day:
        return None
    return Forecast(per_day=per_day, finished_on=today + timedelta(days=ceil(remaining / per_day)))
