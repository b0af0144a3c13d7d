"""Notices that a campaign is finished or stuck, resolved when that is no longer true.

The worker checks all campaigns once a minute. A page that shows notices first checks the campaigns it shows, so it
never shows an outdated notice.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.core.cache import cache
from django.db import IntegrityError, transaction
from django.db.models import CharField, Count, Exists, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Cast, Coalesce, Concat
from django.utils import timezone

from annotation.assignment import leases
from annotation.campaigns import feasibility
from annotation.models import Annotation, Assignment, Campaign, Enrolment, Notice, QuotaRule, Task
from jobs.run.execution import enqueue
from studies.models import AuditEntry

QUIET = timedelta(hours=24)
NOTIFY = "annotation.notify"
_ONCE_IN_SECONDS = 60
_COUNTED_TO = 5_000
LOOKED = "annotation.campaigns.notices.looked"
# Actions that restart the time without an answer.
_MOVES = ("campaign.opened", "campaign.resumed", "campaign.reopened", "campaign.extended")


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

    A few queries in all, and some for each campaign with quotas.
    """
    now = now or timezone.now()
    notices, watched = Notice.objects.filter(resolved_at=None), _watched()
    if campaigns is not None:
        keys = list(campaigns)
        if not keys:
            return NoticeChanges()
        notices, watched = notices.filter(campaign__in=keys), watched.filter(pk__in=keys)
    _expire(now)
    standing = {(row.campaign_id, row.kind): row for row in notices}
    needed = {
        (campaign.pk, kind): (campaign, details)
        for campaign in watched
        for kind, details in _reasons(campaign, now).items()
    }
    created = [
        notice.pk
        for key, (campaign, details) in needed.items()
        if key not in standing and (notice := _make(campaign, key[1], details)) is not None
    ]
    for key, (_, details) in needed.items():
        if key in standing and standing[key].details != details:
            Notice.objects.filter(pk=standing[key].pk).update(details=details)
    outdated = [row.pk for key, row in standing.items() if key not in needed]
    Notice.objects.filter(pk__in=outdated, resolved_at=None).update(resolved_at=now)
    return NoticeChanges(tuple(created), tuple(outdated))


def _expire(now: datetime) -> None:
    """Expire overdue leases of campaigns where no request for a task does so."""
    overdue = Assignment.objects.filter(state=Assignment.State.LEASED, expires_at__lte=now)
    for campaign in Campaign.objects.filter(
        state=Campaign.State.OPEN, imported=False, pk__in=overdue.values("task__campaign")
    ):
        leases.expire(campaign=campaign, now=now)


def _watched() -> QuerySet[Campaign]:
    """Return the open and paused campaigns, annotated with what `_reasons` reads."""
    labels = Task.objects.filter(campaign=OuterRef("pk"), purpose=Task.Purpose.LABEL, withdrawn=False)
    waiting = labels.filter(held__lt=F("wanted"))
    leased = Assignment.objects.filter(
        task__campaign=OuterRef("pk"), state=Assignment.State.LEASED, purpose=Assignment.Purpose.LABEL
    )
    active = Enrolment.objects.filter(campaign=OuterRef("pk"), state=Enrolment.State.ACTIVE)
    subject = Concat(Value("campaign:"), Cast(OuterRef("pk"), CharField()))
    moves = AuditEntry.objects.filter(study=OuterRef("study"), subject=subject, action__in=_MOVES)
    answers = Annotation.objects.filter(campaign=OuterRef("pk"))
    people = active.order_by().values("campaign").annotate(n=Count("pk"))
    return (
        Campaign.objects.filter(state__in=[Campaign.State.OPEN, Campaign.State.PAUSED], imported=False)
        .annotate(
            asks=Exists(labels),
            waiting=Exists(waiting),
            at_work=Exists(leased),
            people=Coalesce(Subquery(people.values("n")), 0),
            joined=Subquery(active.order_by("-pk").values("joined_at")[:1]),
            moved=Subquery(moves.order_by("-pk").values("at")[:1]),
            answered=Subquery(answers.order_by("-pk").values("submitted_at")[:1]),
            ruled=Exists(QuotaRule.objects.filter(campaign=OuterRef("pk"))),
        )
        .select_related("study")
    )


def _reasons(campaign: Campaign, now: datetime) -> dict[str, str]:
    """Return the notices a campaign of `_watched` needs, with their details."""
    facts = vars(campaign)
    if not facts["asks"]:
        return {}
    if not facts["waiting"]:
        return {} if facts["at_work"] else {Notice.Kind.FINISHED: "Every screen has its answers."}
    if campaign.state != Campaign.State.OPEN or not facts["people"]:
        return {}
    why: list[str] = []
    if facts["ruled"]:
        why += feasibility.obstacles(campaign)
    moments = (facts[name] for name in ("answered", "moved", "joined"))
    last_activity = max(moment for moment in (campaign.opened_at, *moments) if moment is not None)
    if now - last_activity >= QUIET:
        waits = _waiting(campaign)
        takes = "1 person takes" if facts["people"] == 1 else f"{facts['people']:,} people take"
        why.append(f"No answer came in the last 24 hours: {waits} and {takes} part.")
    return {Notice.Kind.STUCK: _cut(" ".join(why))} if why else {}


def _waiting(campaign: Campaign) -> str:
    """Return how many screens wait, counted up to a limit: a page may ask every few seconds."""
    open_tasks = Task.objects.filter(
        campaign=campaign, purpose=Task.Purpose.LABEL, withdrawn=False, held__lt=F("wanted")
    )
    number = open_tasks.order_by()[: _COUNTED_TO + 1].count()
    if number > _COUNTED_TO:
        return f"more than {_COUNTED_TO:,} screens wait"
    return "1 screen waits" if number == 1 else f"{number:,} screens wait"


def _cut(text: str, most: int = 300) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _make(campaign: Campaign, kind: str, details: str) -> Notice | None:
    """Create a notice, and mail it to the study's leads if the server can; None if it exists already."""
    try:
        with transaction.atomic():
            notice = Notice.objects.create(campaign=campaign, kind=kind, details=details)
            if settings.EMAIL_HOST:
                enqueue(
                    kind=NOTIFY,
                    title=f"Tell the leads: “{campaign.name}” is {kind}",
                    arguments={"notice": notice.pk},
                    by=None,
                    study_id=campaign.study_id,
                )
    except IntegrityError:
        return None
    return notice
