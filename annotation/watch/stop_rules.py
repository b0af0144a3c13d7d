"""Stop rules: they pause or close a campaign as a lead would.

The worker applies them once a minute. A rule stops a campaign once with the same setting: a lead who resumes the
campaign is not overruled a minute later. The precision of results is looked at elsewhere (`annotation.watch.looks`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.core.cache import cache
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from annotation.campaigns import lifecycle
from annotation.kinds.options import MOMENT, Options
from annotation.models import Assignment, Campaign, CampaignStop, Notice, Task
from annotation.watch import notices
from annotation.watch.spending import spent

Rule = CampaignStop.Rule
APPLIED = "annotation.watch.stop_rules.applied"
_ONCE_IN_SECONDS = 60
_IN_OPTIONS = ("stop_at_budget", "stop_on", "stop_complete")


@dataclass(frozen=True)
class ReachedRule:
    """A rule that is met now: its setting, and the reason."""

    rule: str
    setting: str
    reason: str


def apply_now_and_then() -> list[CampaignStop]:
    """Apply the rules of all campaigns, unless this process did so within the last minute."""
    return apply_rules() if cache.add(APPLIED, 1, timeout=_ONCE_IN_SECONDS) else []


def apply_rules(*, now: datetime | None = None) -> list[CampaignStop]:
    """Stop each open campaign that meets one of its rules; return the stopped campaigns."""
    now = now or timezone.now()
    has_rule = Q()
    for option in _IN_OPTIONS:
        has_rule |= Q(options__has_key=option)
    campaigns = Campaign.objects.filter(has_rule, state=Campaign.State.OPEN, imported=False)
    stops = []
    for campaign in campaigns.select_related("study").order_by("pk"):
        for reached in _reached(campaign, now):
            if (campaign_stop := stop(campaign=campaign, reached=reached)) is not None:
                stops.append(campaign_stop)
                break
    return stops


@transaction.atomic
def stop(*, campaign: Campaign, reached: ReachedRule) -> CampaignStop | None:
    """Pause or close a campaign by a rule and tell its leads; None if it is not open or the rule did so before.

    Of two workers the second waits for the first, and then finds the rule used.
    """
    campaign = Campaign.locked(campaign.pk)
    if campaign.state != Campaign.State.OPEN:
        return None
    closes = Options.of(campaign).stop_by == "close"
    campaign_stop, is_new = CampaignStop.objects.get_or_create(
        campaign=campaign,
        rule=reached.rule,
        setting=reached.setting,
        defaults={
            "reason": reached.reason,
            "state": Campaign.State.CLOSED if closes else Campaign.State.PAUSED,
        },
    )
    if not is_new:
        return None
    verb = lifecycle.close if closes else lifecycle.pause
    verb(campaign=campaign, by=None, rule=f"{campaign_stop.get_rule_display()}. {reached.reason}")
    campaign.notices.filter(kind=Notice.Kind.STOPPED, resolved_at=None).update(resolved_at=timezone.now())
    action = "Closed" if closes else "Paused"
    notices.give(campaign, Notice.Kind.STOPPED, f"{action} by a stop rule. {reached.reason}")
    return campaign_stop


def precision_rule(half_width: float, look: int, limit: float) -> ReachedRule:
    """Return the rule about precision, reached at a look."""
    return ReachedRule(
        Rule.PRECISION,
        f"{limit:g}",
        f"At look {look:,} the half-width of θ was {half_width:.3g}. The rule stops the campaign at a half-width "
        f"of {limit:g} or less.",
    )


def _reached(campaign: Campaign, now: datetime) -> Iterator[ReachedRule]:
    """Yield the rules of a campaign that are met now."""
    options = Options.of(campaign)
    if options.stop_complete and _complete(campaign):
        number = campaign.annotators_per_task
        yield ReachedRule(Rule.COMPLETE, f"{number} a screen", "Every screen has all the answers it needs.")
    if options.stop_on and now >= _moment(options.stop_on):
        date_and_time = options.stop_on.replace("T", ", ")
        yield ReachedRule(Rule.DATE, options.stop_on, f"The set date and time have come: {date_and_time}.")
    if options.stop_at_budget and options.pay_budget is not None:
        spending = spent(campaign)
        if float(spending.amount) >= options.pay_budget:
            budget = f"{options.pay_budget:,.2f} {options.pay_currency}"
            others = " and ".join(spending.other_currencies)
            without = f", without payments in {others}" if others else ""
            yield ReachedRule(
                Rule.BUDGET, budget, f"{spending} of the budget of {budget} has been spent{without}."
            )


def _moment(text: str) -> datetime:
    return timezone.make_aware(datetime.strptime(text, MOMENT))


def _complete(campaign: Campaign) -> bool:
    """Return whether every screen that is still asked about has its answers, and none is open with somebody."""
    screens = Task.objects.filter(campaign=campaign, purpose=Task.Purpose.LABEL, withdrawn=False)
    leased = Assignment.objects.filter(
        task__campaign=campaign, state=Assignment.State.LEASED, purpose=Assignment.Purpose.LABEL
    )
    return screens.exists() and not screens.filter(held__lt=F("wanted")).exists() and not leased.exists()
