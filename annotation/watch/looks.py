"""Looks at the precision of running campaigns: when the next look is due, and recording its half-width.

An app above this one computes the half-width from results (`analysis.planning.precision_looks`). Looks are only after
`stop_least` answers and then after every `stop_every`, because each look makes the final interval a little too narrow.
"""

from collections.abc import Iterator

from django.db import transaction

from annotation.answers.inclusion import counted
from annotation.kinds.options import Options
from annotation.models import Campaign, CampaignStop, PrecisionLook
from annotation.watch import stop_rules


def due_campaigns() -> Iterator[Campaign]:
    """Yield the open campaigns whose next look is due."""
    campaigns = Campaign.objects.filter(
        state=Campaign.State.OPEN, imported=False, options__has_key="stop_half_width"
    )
    for campaign in campaigns.select_related("study").order_by("pk"):
        if is_due(campaign, answers_of(campaign)):
            yield campaign


def answers_of(campaign: Campaign) -> int:
    """Return how many answers of a campaign count."""
    return counted(campaign).count()


def is_due(campaign: Campaign, answers: int) -> bool:
    """Return whether there are enough answers for another look."""
    options = Options.of(campaign)
    last_look = campaign.precision_looks.order_by("-number").first()
    needed = 0 if last_look is None else last_look.answers + options.stop_every
    return options.stop_half_width is not None and answers >= max(needed, options.stop_least)


@transaction.atomic
def record(
    *, campaign: Campaign, answers: int, half_width: float | None, reason: str = ""
) -> tuple[PrecisionLook | None, CampaignStop | None]:
    """Count a look and apply the rule; nothing if it is not due, because another worker looked just now."""
    campaign = Campaign.locked(campaign.pk)
    if campaign.state != Campaign.State.OPEN or not is_due(campaign, answers):
        return None, None
    number = campaign.precision_looks.count() + 1
    look = PrecisionLook.objects.create(
        campaign=campaign, number=number, answers=answers, half_width=half_width, reason=reason
    )
    limit = Options.of(campaign).stop_half_width
    if limit is None or half_width is None or half_width > limit:
        return look, None
    rule = stop_rules.precision_rule(half_width, number, limit)
    return look, stop_rules.stop(campaign=campaign, reached=rule)
