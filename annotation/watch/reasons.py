"""The reasons for notices about a campaign: one or more sentences for each kind of notice.

Sentences name no people: they are sent by e-mail.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from statistics import median
from typing import Any, NamedTuple

from django.db.models import CharField, Count, Exists, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Cast, Coalesce, Concat

from annotation.campaigns import feasibility
from annotation.kinds.options import Options
from annotation.models import (
    FLOOR,
    Annotation,
    Assignment,
    Campaign,
    Enrolment,
    Notice,
    QualityEvent,
    QuotaRule,
    Task,
)
from annotation.people.pay import Rate, digits_of
from annotation.watch.spending import payers
from studies.models import AuditEntry

_COUNTED_TO = 5_000
FEWEST_PEOPLE = 5  # who answered, before a share of them is flagged
FEWEST_ANSWERS = 20  # with a time, before a median is one
_LATEST = 1_000  # answers of which the median time is taken
# Actions that restart the time without an answer.
_MOVES = ("campaign.opened", "campaign.resumed", "campaign.reopened", "campaign.extended")
Kind = Notice.Kind


class WatchedCampaign(NamedTuple):
    """A campaign of `watched`, the moment at which it is looked at, and what panels say of its pay."""

    campaign: Campaign
    facts: Mapping[str, Any]
    now: datetime
    panel_pay: str


def watched(campaigns: Iterable[int] | None, now: datetime) -> list[WatchedCampaign]:
    """Return the open and paused ones of these campaigns, or of all, with what `reasons` reads."""
    rows = _open_or_paused()
    if campaigns is not None:
        rows = rows.filter(pk__in=campaigns)
    running = list(rows)
    low_pay: dict[int, str] = {}
    if keys := [campaign.pk for campaign in running if campaign.state == Campaign.State.OPEN]:
        for payer in payers():
            low_pay |= payer.low_pay(keys)
    return [
        WatchedCampaign(campaign, vars(campaign), now, low_pay.get(campaign.pk, "")) for campaign in running
    ]


def _open_or_paused() -> QuerySet[Campaign]:
    labels = Task.objects.filter(campaign=OuterRef("pk"), purpose=Task.Purpose.LABEL, withdrawn=False)
    waiting = labels.filter(held__lt=F("wanted"))
    leased = Assignment.objects.filter(
        task__campaign=OuterRef("pk"), state=Assignment.State.LEASED, purpose=Assignment.Purpose.LABEL
    )
    active = Enrolment.objects.filter(campaign=OuterRef("pk"), state=Enrolment.State.ACTIVE)
    subject = Concat(Value("campaign:"), Cast(OuterRef("pk"), CharField()))
    moves = AuditEntry.objects.filter(study=OuterRef("study"), subject=subject, action__in=_MOVES)
    answers = Annotation.objects.filter(campaign=OuterRef("pk"))
    worked = Enrolment.objects.filter(
        Exists(Annotation.objects.filter(annotator=OuterRef("annotator"), campaign=OuterRef("campaign"))),
        campaign=OuterRef("pk"),
        state__in=[Enrolment.State.ACTIVE, Enrolment.State.PAUSED],
    )
    flagged = worked.filter(Exists(QualityEvent.objects.filter(enrolment=OuterRef("pk"), ended_at=None)))
    return (
        Campaign.objects.filter(state__in=[Campaign.State.OPEN, Campaign.State.PAUSED], imported=False)
        .annotate(
            asks=Exists(labels),
            waiting=Exists(waiting),
            at_work=Exists(leased),
            people=_count(active),
            worked=_count(worked),
            flagged=_count(flagged),
            joined=Subquery(active.order_by("-pk").values("joined_at")[:1]),
            moved=Subquery(moves.order_by("-pk").values("at")[:1]),
            answered=Subquery(answers.order_by("-pk").values("submitted_at")[:1]),
            ruled=Exists(QuotaRule.objects.filter(campaign=OuterRef("pk"))),
        )
        .select_related("study")
    )


def _count(enrolments: QuerySet[Enrolment]) -> Coalesce:
    number = enrolments.order_by().values("campaign").annotate(n=Count("pk"))
    return Coalesce(Subquery(number.values("n")), 0)


def reasons(watched_campaign: WatchedCampaign) -> dict[str, str]:
    """Return the notices that a campaign needs now, with their details."""
    sentences = {kind: look(watched_campaign) for kind, look in _LOOKS.items()}
    return {kind: _cut(sentence) for kind, sentence in sentences.items() if sentence}


def _finished(watched_campaign: WatchedCampaign) -> str:
    facts = watched_campaign.facts
    is_finished = facts["asks"] and not facts["waiting"] and not facts["at_work"]
    return "Every screen has all the answers it needs." if is_finished else ""


def _stuck(watched_campaign: WatchedCampaign) -> str:
    campaign, facts = watched_campaign.campaign, watched_campaign.facts
    if not _asks_somebody(watched_campaign):
        return ""
    hours = _option(campaign, "stuck_hours")
    moments = (facts[name] for name in ("answered", "moved", "joined"))
    last_activity = max(moment for moment in (campaign.opened_at, *moments) if moment is not None)
    if watched_campaign.now - last_activity < timedelta(hours=hours):
        return ""
    takes = "1 person takes" if facts["people"] == 1 else f"{facts['people']:,} people take"
    within = "the last hour" if hours == 1 else f"the last {hours:,} hours"
    return f"No answer came in {within}: {_waiting(campaign)} and {takes} part."


def _shortfall(watched_campaign: WatchedCampaign) -> str:
    if not _asks_somebody(watched_campaign) or not watched_campaign.facts["ruled"]:
        return ""
    return " ".join(feasibility.obstacles(watched_campaign.campaign))


def _junk(watched_campaign: WatchedCampaign) -> str:
    campaign, facts = watched_campaign.campaign, watched_campaign.facts
    worked, flagged = facts["worked"], facts["flagged"]
    if campaign.state != Campaign.State.OPEN or worked < FEWEST_PEOPLE:
        return ""
    if flagged / worked <= _option(campaign, "junk_share"):
        return ""
    return (
        f"Quality rules flag {flagged:,} of the {worked:,} people who answered ({flagged / worked:.0%}). Check "
        "the guidelines and the practice first, then the answers."
    )


def _low_pay(watched_campaign: WatchedCampaign) -> str:
    campaign = watched_campaign.campaign
    if campaign.state != Campaign.State.OPEN:
        return ""
    return " ".join(filter(None, (_low_rate(campaign), watched_campaign.panel_pay)))


_LOOKS: Mapping[str, Callable[[WatchedCampaign], str]] = {
    Kind.FINISHED: _finished,
    Kind.STUCK: _stuck,
    Kind.SHORTFALL: _shortfall,
    Kind.JUNK: _junk,
    Kind.LOW_PAY: _low_pay,
}


def _asks_somebody(watched_campaign: WatchedCampaign) -> bool:
    campaign, facts = watched_campaign.campaign, watched_campaign.facts
    return bool(campaign.state == Campaign.State.OPEN and facts["waiting"] and facts["people"])


def _low_rate(campaign: Campaign) -> str:
    """Return a sentence where the campaign's rate comes to less an hour than the least for its currency."""
    rate = Rate.of(campaign)
    # A rate of 0 says that the work is unpaid, which the lead chose.
    if rate is None or not rate.amount or rate.currency not in FLOOR:
        return ""
    least = Decimal(FLOOR[rate.currency]).scaleb(-digits_of(rate.currency))
    if rate.per == "hour":
        if rate.amount >= least:
            return ""
        hourly = rate.rounded(rate.amount)
        return f"The rate is {hourly} {rate.currency} an hour, which is less than {least} {rate.currency}."
    latest = Annotation.objects.filter(campaign=campaign, active_seconds__gt=0, revision=1).order_by("-pk")
    times = latest.values_list("active_seconds", flat=True)[:_LATEST]
    seconds = [duration for duration in times if duration is not None]
    if len(seconds) < FEWEST_ANSWERS:
        return ""
    median_seconds = median(seconds)
    hourly = rate.rounded(rate.amount * 3600 / Decimal(str(median_seconds)))
    if hourly >= least:
        return ""
    return (
        f"Half of the screens take {median_seconds:.0f} seconds or longer. At {rate.amount} {rate.currency} a screen "
        f"this is {hourly} {rate.currency} an hour, which is less than {least} {rate.currency}."
    )


def _option(campaign: Campaign, name: str) -> Any:
    return campaign.options.get(name, Options.default(name))


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
