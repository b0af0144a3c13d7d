"""Daily caps of a campaign on the tasks of one annotator: on all tasks, or on sensitive tasks.

Days are in the server's time zone. Nothing is counted if no cap is set.
"""

from dataclasses import dataclass
from datetime import datetime, time, timedelta

from django.utils import timezone

from annotation.assignment.sql import COUNT_TODAY
from annotation.models import Campaign
from foundation.database.statements import rows
from foundation.database.values import moment_value


@dataclass(frozen=True)
class Today:
    """The tasks that an annotator may still get today."""

    enough: bool = False  # nothing
    calm: bool = False  # only what is not sensitive


def today(campaign: Campaign, annotator_id: int, *, now: datetime | None = None) -> Today:
    """Return what the campaign's caps still allow the annotator today; one query if there is a cap."""
    tasks, sensitive = (campaign.options.get(cap) for cap in ("tasks_per_day", "sensitive_per_day"))
    if tasks is None and sensitive is None:
        return Today()
    parameters = {"annotator": annotator_id, "campaign": campaign.pk}
    task_count, sensitive_count = rows(
        COUNT_TODAY, parameters | {"midnight": moment_value(_midnight(now or timezone.now()))}
    )[0]
    return Today(
        enough=tasks is not None and task_count >= tasks,
        calm=sensitive is not None and sensitive_count >= sensitive,
    )


def tomorrow(now: datetime | None = None) -> datetime:
    """Return when the next day begins, in the server's time zone."""
    # Midnight of a day in which clocks change may be 23 or 25 hours away.
    return _midnight(_midnight(now or timezone.now()) + timedelta(hours=36))


def _midnight(now: datetime) -> datetime:
    zone = timezone.get_default_timezone()
    return datetime.combine(now.astimezone(zone).date(), time.min, tzinfo=zone)
