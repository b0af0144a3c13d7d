"""Notices to the leads of campaigns, resolved when they are no longer true.

The worker checks all campaigns once a minute. A page that shows notices first checks the campaigns it shows, so it
never shows an outdated notice.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.core.cache import cache
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from annotation.assignment import leases
from annotation.kinds.options import Options
from annotation.models import Assignment, Campaign, Notice
from annotation.watch.reasons import reasons, watched
from jobs.models import Job
from jobs.run.execution import enqueue

NOTIFY = "annotation.notify"
_ONCE_IN_SECONDS = 60
LOOKED = "annotation.watch.notices.looked"
# A stop is no longer news once the campaign is open again, whatever else is true of it.
_STOPPED = Q(kind=Notice.Kind.STOPPED) & ~Q(campaign__state=Campaign.State.OPEN)


@dataclass(frozen=True)
class NoticeChanges:
    """The keys of notices that were created and resolved."""

    created: tuple[int, ...] = ()
    resolved: tuple[int, ...] = ()


def look_now_and_then() -> NoticeChanges:
    """Check all campaigns, unless that was done within the last minute."""
    return look() if cache.add(LOOKED, 1, timeout=_ONCE_IN_SECONDS) else NoticeChanges()


def look(*, campaigns: Iterable[int] | None = None, now: datetime | None = None) -> NoticeChanges:
    """Create the notices that these campaigns, or all, need now, and resolve the others.

    A few queries in all, and some for each campaign with quotas or with pay for each screen.
    """
    now = now or timezone.now()
    notices = Notice.objects.filter(resolved_at=None).exclude(_STOPPED)
    if campaigns is not None:
        campaigns = list(campaigns)
        if not campaigns:
            return NoticeChanges()
        notices = notices.filter(campaign__in=campaigns)
    _expire(now)
    standing = {(row.campaign_id, row.kind): row for row in notices}
    needed = {
        (row.campaign.pk, kind): (row.campaign, details)
        for row in watched(campaigns, now)
        for kind, details in reasons(row).items()
    }
    created = [
        notice.pk
        for key, (campaign, details) in needed.items()
        if key not in standing and (notice := give(campaign, key[1], details)) is not None
    ]
    for key, (_, details) in needed.items():
        if key in standing and standing[key].details != details:
            Notice.objects.filter(pk=standing[key].pk).update(details=details)
    outdated = [row.pk for key, row in standing.items() if key not in needed]
    Notice.objects.filter(pk__in=outdated, resolved_at=None).update(resolved_at=now)
    return NoticeChanges(tuple(created), tuple(outdated))


def current(campaign: Campaign) -> list[Notice]:
    """Return the notices of a campaign that are true now, checked just now."""
    look(campaigns=[campaign.pk])
    return list(campaign.notices.filter(resolved_at=None).order_by("pk"))


def give(campaign: Campaign, kind: str, details: str) -> Notice | None:
    """Create a notice, and mail it to the study's leads if they chose that; None if it exists already."""
    try:
        with transaction.atomic():
            notice = Notice.objects.create(campaign=campaign, kind=kind, details=details)
            if settings.EMAIL_HOST and kind in campaign.options.get("notices", Options.default("notices")):
                enqueue(
                    kind=NOTIFY,
                    title=f"Tell the leads of “{campaign.name}”: {notice.get_kind_display()}",
                    arguments={"notice": notice.pk},
                    by=None,
                    study_id=campaign.study_id,
                )
    except IntegrityError:
        return None
    return notice


def cancel_letters(*, reason: str) -> int:
    """Cancel letters that were about to go out when a backup was made: they have gone out since. Return how many."""
    waiting = Job.objects.filter(kind=NOTIFY, state__in=[Job.State.QUEUED, Job.State.RUNNING])
    return waiting.update(
        state=Job.State.CANCELLED,
        finished_at=timezone.now(),
        lease_expires_at=None,
        wait_until=None,
        error=reason,
        error_code="restored",
    )


def _expire(now: datetime) -> None:
    """Expire overdue leases of campaigns where no request for a task does so."""
    overdue = Assignment.objects.filter(state=Assignment.State.LEASED, expires_at__lte=now)
    for campaign in Campaign.objects.filter(
        state=Campaign.State.OPEN, imported=False, pk__in=overdue.values("task__campaign")
    ):
        leases.expire(campaign=campaign, now=now)
