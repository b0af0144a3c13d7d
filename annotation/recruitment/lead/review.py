"""The page on which a lead reviews a recruitment: proposals, bonuses, and the state of each payment."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache

from accounts.rights import Capability, requires
from annotation.lead.page_context import campaign_context, campaign_for_lead, page_of, typed
from annotation.recruitment import cost
from annotation.recruitment.lead.pages import RecruitmentView
from annotation.recruitment.models import PanelPayment, PanelPlace, Recruitment
from annotation.recruitment.payments import decisions, review
from annotation.recruitment.payments.panel_api import pays_by_program
from annotation.recruitment.payments.send import shown_within
from web.form_page import Button, Confirmation

PAYMENTS_PER_PAGE = 50
_UNKNOWN_SHOWN = 20


@requires(get=Capability.RECRUIT)
@never_cache
def review_page(request: HttpRequest, study: str, campaign: str, recruitment: int) -> HttpResponse:
    """Show proposals, ordered payments, and what to do about lost payments."""
    campaign_for_lead(request, study, campaign)
    context = campaign_context(request, study, campaign)
    reviewed = get_object_or_404(
        context["campaign"].recruitments.select_related("provider", "campaign__study"), pk=recruitment
    )
    state = request.GET.get("state", "")
    payments = PanelPayment.objects.filter(place__recruitment=reviewed)
    listed = payments.filter(state=state) if state in PanelPayment.State.values else payments
    unknown = payments.filter(state=PanelPayment.State.UNKNOWN).select_related("place__enrolment__annotator")
    context |= {
        "recruitment": reviewed,
        "review": review.review_of(reviewed),
        "by_program": pays_by_program(reviewed),
        "counts": review.counts_of(reviewed),
        "states": PanelPayment.State.choices,
        "state": state,
        "unknown": [
            (payment, _amount(payment), decisions.may_plan_again(payment))
            for payment in unknown[:_UNKNOWN_SHOWN]
        ],
        "unknown_count": unknown.count(),
        "shown_within_minutes": round(shown_within().total_seconds() / 60),
        "page": (
            page := page_of(
                request, listed.select_related("place__enrolment__annotator"), per_page=PAYMENTS_PER_PAGE
            )
        ),
        "rows": [
            (payment, _amount(payment), payment.state == "refused" and decisions.may_plan_again(payment))
            for payment in page
        ],
        "may_settle": reviewed.state == Recruitment.State.CLOSED
        and not reviewed.panel_places.filter(state=PanelPlace.State.WORKING).exists()
        and not payments.filter(state__in=PanelPayment.OPEN).exists(),
    }
    return render(request, "recruitment/lead/review.html", context)


def _amount(payment: PanelPayment) -> cost.Money | None:
    return cost.Money(payment.amount, payment.currency) if payment.amount else None


@requires(post=Capability.RECRUIT)
class RecruitmentApprove(RecruitmentView, Button):
    """Approve everybody who worked."""

    leads_to = "annotation:recruitment_review"

    def call(self) -> str:
        number = decisions.approve_all(recruitment=self.recruitment, by=self.by)
        places = f"{number:,} {'place is' if number == 1 else 'places are'} approved."
        if pays_by_program(self.recruitment):
            return f"{places} The decisions will be sent to the panel in a moment."
        return f"{places} Pay these people at the panel."


@requires(get=Capability.RECRUIT, post=Capability.RECRUIT)
class BonusesPay(RecruitmentView, Confirmation):
    """Pay the proposed bonuses, after a page that shows their sum."""

    leads_to = "annotation:recruitment_review"
    template_name = "recruitment/lead/bonuses.html"

    def context(self) -> dict[str, Any]:
        return super().context() | {
            "recruitment": self.recruitment,
            "review": review.review_of(self.recruitment),
            "by_program": pays_by_program(self.recruitment),
        }

    def call(self) -> str:
        total = typed(self.request.POST.get("total"))
        number = decisions.pay_bonuses(
            recruitment=self.recruitment, total=int(total) if total.isdecimal() else -1, by=self.by
        )
        bonuses = f"{number:,} {'bonus' if number == 1 else 'bonuses'}"
        if pays_by_program(self.recruitment):
            return f"{bonuses} will be paid in a moment."
        return f"{bonuses} recorded as paid."


@requires(post=Capability.RECRUIT)
class RecruitmentSettle(RecruitmentView, Button):
    """Note that everybody was paid."""

    leads_to = "annotation:recruitment_review"

    def call(self) -> str:
        decisions.settle(recruitment=self.recruitment, by=self.by)
        return "The recruitment is settled. The panel’s ids will be erased in 90 days."


class PaymentView(RecruitmentView):
    """A view of the payment in its address."""

    leads_to = "annotation:recruitment_review"

    def load(self) -> None:
        super().load()
        self.payment = get_object_or_404(
            PanelPayment.objects.select_related("place__recruitment__campaign"),
            place__recruitment=self.recruitment,
            pk=self.kwargs["payment"],
        )


@requires(get=Capability.RECRUIT, post=Capability.RECRUIT)
class PaymentAgain(PaymentView, Confirmation):
    """Send a lost bonus again, after a page that explains what to check at the panel."""

    template_name = "recruitment/lead/payment.html"

    def context(self) -> dict[str, Any]:
        return super().context() | {
            "recruitment": self.recruitment,
            "payment": self.payment,
            "amount": _amount(self.payment),
            "possible": decisions.may_plan_again(self.payment),
            "shown_within_minutes": round(shown_within().total_seconds() / 60),
        }

    def call(self) -> str:
        decisions.plan_again(payment=self.payment, by=self.by)
        return "The bonus will be sent again, unless the panel shows it before."


@requires(post=Capability.RECRUIT)
class PaymentSeen(PaymentView, Button):
    """Note that an unknown bonus is at the panel."""

    def call(self) -> str:
        decisions.note_paid(payment=self.payment, by=self.by)
        return "The bonus is recorded as paid."
