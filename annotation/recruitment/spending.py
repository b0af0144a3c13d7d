"""The cost of panels' places for a campaign, and whether their people earn enough."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, QuerySet

from annotation.models import Campaign
from annotation.recruitment import cost
from annotation.recruitment.models import PanelPlace, Recruitment
from annotation.watch.spending import Payer

_FEWEST = 3  # people who must have completed a place before a median is meaningful
_State = PanelPlace.State
# Places that are paid unless a lead rejects them: held, without work, or left after some answers.
_PAID = (
    Q(panel_places__state__in=[*PanelPlace.HELD, _State.SCREENED_OUT])
    | Q(panel_places__state=_State.LEFT, panel_places__answered__gt=0)
) & ~Q(panel_places__outcome=PanelPlace.Outcome.REJECTED)


class PanelPayer(Payer):
    """Panels, whose people are paid for places."""

    def annotators(self, campaign: Campaign) -> QuerySet[Any]:
        places = PanelPlace.objects.filter(recruitment__campaign=campaign, enrolment__isnull=False)
        return places.order_by().values_list("enrolment__annotator", flat=True).distinct()

    def spent(self, campaign: Campaign) -> Mapping[str, Decimal]:
        amounts: dict[str, Decimal] = defaultdict(Decimal)
        for recruitment in campaign.recruitments.annotate(paid=Count("panel_places", filter=_PAID)):
            money = cost.total(recruitment, vars(recruitment)["paid"])
            amounts[money.currency] += money.amount
        return amounts

    def low_pay(self, campaigns: Iterable[int]) -> Mapping[int, str]:
        sentences: dict[int, list[str]] = defaultdict(list)
        completed = Count("panel_places", filter=Q(panel_places__state=_State.COMPLETED))
        recruitments = Recruitment.objects.filter(
            campaign__in=campaigns, state__in=[Recruitment.State.OPEN, Recruitment.State.PAUSED]
        )
        for recruitment in recruitments.annotate(completed=completed).filter(completed__gte=_FEWEST):
            earned = cost.earned(recruitment)
            if earned is not None and earned.below_floor:
                sentences[recruitment.campaign_id].append(
                    f"Half of the people recruited as “{recruitment.name}” earn {earned.an_hour} an hour or less, "
                    f"which is too little. Close the recruitment and pay a bonus of {earned.top_up} for each place."
                )
        return {campaign: " ".join(lines) for campaign, lines in sentences.items()}
