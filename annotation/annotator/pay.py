"""The annotator's working time so far, and the pay for it."""

from dataclasses import dataclass
from decimal import Decimal

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from accounts.rights import Capability, requires
from annotation.annotator.access import annotator_of, pay_statement
from annotation.kinds.registry import work_in
from annotation.models import Campaign, Enrolment
from annotation.people.pay import Rate, Work, work_of


@dataclass(frozen=True)
class Part:
    """The annotator's part in a campaign; `amount` is None if no rate is set."""

    campaign_id: int
    number: int
    title: str
    work: Work
    rate: Rate | None
    amount: Decimal | None
    statement: str

    @property
    def minutes(self) -> int:
        return round(self.work.seconds / 60)


@requires(get=Capability.ANNOTATE)
@never_cache
def time_and_pay(request: HttpRequest) -> HttpResponse:
    """List the annotator's own work, campaign by campaign, newest first."""
    annotator = annotator_of(request.user)
    enrolments = list(
        Enrolment.objects.filter(annotator=annotator).select_related("campaign").order_by("pk")
        if annotator
        else ()
    )
    work_by_campaign = (
        work_of(annotator.pk, [enrolment.campaign_id for enrolment in enrolments]) if annotator else {}
    )
    parts = [
        _part(number, enrolment.campaign, work_by_campaign.get(enrolment.campaign_id, Work()))
        for number, enrolment in enumerate(enrolments, start=1)
    ]
    return render(request, "annotation/annotator/pay.html", {"parts": parts[::-1]})


def _part(number: int, campaign: Campaign, work: Work) -> Part:
    rate = Rate.of(campaign)
    return Part(
        campaign_id=campaign.pk,
        number=number,
        title=work_in(campaign),
        work=work,
        rate=rate,
        amount=rate.comes_to(tasks=work.tasks, seconds=work.seconds) if rate else None,
        statement=pay_statement(campaign),
    )
