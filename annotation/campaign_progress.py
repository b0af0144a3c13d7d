"""The live part of a campaign's page: progress, pace and when it may be finished."""

from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil

from django.utils import timezone

from annotation.annotator_list import AnnotatorLine, annotator_lines
from annotation.models import Campaign
from annotation.progress import CampaignProgress, DayProgress, GroupProgress, progress

# A pace is taken from the last week, and from no fewer days than this.
PACE_DAYS = 7
DAYS_FOR_A_FORECAST = 2
ANNOTATORS_SHOWN = 10
DAYS_SHOWN = 14


@dataclass(frozen=True)
class Forecast:
    """When all answers may be in, if people go on as in the last week."""

    per_day: float
    finished_on: date


@dataclass(frozen=True)
class ProgressPage:
    """What the page shows of a campaign's progress."""

    progress: CampaignProgress
    forecast: Forecast | None
    latest: list[AnnotatorLine]
    days: list[DayProgress]
    live: bool

    @property
    def segments(self) -> list[tuple[str, int, str]]:
        found = self.progress
        return [
            ("answered", found.accepted, "done"),
            ("open with somebody now", found.leased, "active"),
            ("waiting", max(found.free, 0), "waiting"),
        ]

    @property
    def task_segments(self) -> list[tuple[str, int, str]]:
        found = self.progress
        return [
            ("complete", found.complete, "done"),
            ("begun", found.begun, "active"),
            ("untouched", found.untouched, "waiting"),
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


def progress_page(campaign: Campaign) -> ProgressPage:
    """Return the progress of `campaign` as its page shows it."""
    found = progress(campaign)
    answered = [one for one in found.annotators if one.last_submitted_at is not None]
    answered.sort(key=lambda one: one.last_submitted_at or timezone.now(), reverse=True)
    names = [one.pseudonym for one in answered[:ANNOTATORS_SHOWN]]
    enrolments = campaign.enrolments.filter(annotator__pseudonym__in=names).select_related("annotator")
    latest = annotator_lines(campaign, enrolments)
    latest.sort(key=lambda line: names.index(line.enrolment.annotator.pseudonym))
    return ProgressPage(
        progress=found,
        forecast=forecast(found, today=timezone.localdate())
        if campaign.state == Campaign.State.OPEN
        else None,
        latest=latest,
        days=list(found.days[-DAYS_SHOWN:]),
        live=campaign.state in {Campaign.State.OPEN, Campaign.State.PAUSED},
    )


def forecast(found: CampaignProgress, *, today: date) -> Forecast | None:
    """Return when `found` may be finished; None before there are two days to take a pace from."""
    remaining = found.slots - found.accepted
    if len(found.days) < DAYS_FOR_A_FORECAST or remaining <= 0:
        return None
    first = max(found.days[0].day, today - timedelta(days=PACE_DAYS - 1))
    recent = sum(day.submitted for day in found.days if day.day >= first)
    per_day = recent / ((today - first).days + 1)
    if not per_day:
        return None
    return Forecast(per_day=per_day, finished_on=today + timedelta(days=ceil(remaining / per_day)))
