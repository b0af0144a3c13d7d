"""A campaign's recruitment: panels, recruitments, their places."""

from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from accounts.rights import Capability, requires
from annotation.kinds.options import Options
from annotation.lead.page_context import CampaignView, campaign_context, campaign_for_lead, page_of
from annotation.models import Campaign
from annotation.recruitment import background, cost, identities, providers, recruitments
from annotation.recruitment.lead import cells
from annotation.recruitment.lead.forms import DecisionForm, PanelForm, RecruitmentForm
from annotation.recruitment.models import PanelPayment, PanelPlace, Recruitment
from annotation.recruitment.payments import decisions, review
from annotation.recruitment.payments.panel_api import pays_by_program
from annotation.recruitment.prolific import draft, estimate
from web.form_page import Button, FormPage

PLACES_PER_PAGE = 50
RECRUITMENTS_PER_PAGE = 50
_ID = "recruitment_shown_id"


@dataclass(frozen=True)
class RecruitmentLine:
    """A recruitment, the number of its places in each state, and its cost."""

    recruitment: Recruitment
    counts: dict[str, int]
    planned: cost.Money
    so_far: cost.Money

    @property
    def working(self) -> int:
        return self.counts.get(PanelPlace.State.WORKING, 0)

    @property
    def completed(self) -> int:
        return self.counts.get(PanelPlace.State.COMPLETED, 0)


def lines_of(listed: list[Recruitment]) -> list[RecruitmentLine]:
    """Return the recruitments with their counts; one query for all."""
    counts: dict[int, dict[str, int]] = {}
    places = PanelPlace.objects.filter(recruitment__in=[recruitment.pk for recruitment in listed])
    for pk, state, number in (
        places.order_by().values_list("recruitment", "state").annotate(number=Count("pk"))
    ):
        counts.setdefault(pk, {})[state] = number
    return [
        RecruitmentLine(
            recruitment,
            (by_state := counts.get(recruitment.pk, {})),
            cost.total(recruitment, recruitment.places),
            cost.total(recruitment, by_state.get(PanelPlace.State.COMPLETED, 0)),
        )
        for recruitment in listed
    ]


def totals(lines: list[RecruitmentLine]) -> list[str]:
    """Return the total cost of the recruitments, one sum per currency."""
    sums: dict[str, int] = {}
    for line in lines:
        sums[line.planned.currency] = sums.get(line.planned.currency, 0) + line.planned.units
    return [str(cost.Money(units, currency)) for currency, units in sorted(sums.items())]


def outside_budget(campaign: Campaign) -> str:
    """Return a sentence if recruitments pay in other currencies than that of the campaign's budget, else ""."""
    options = Options.of(campaign)
    if options.pay_budget is None:
        return ""
    others = campaign.recruitments.exclude(currency=options.pay_currency)
    currencies = sorted(others.order_by().values_list("currency", flat=True).distinct())
    if not currencies:
        return ""
    return (
        f"The campaign’s budget is in {options.pay_currency}, so it does not include recruitments in "
        f"{' and '.join(currencies)}."
    )


@requires(get=Capability.RECRUIT)
@never_cache
def recruitment_list(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """List the recruitments, and the cells for which there is none yet."""
    campaign_for_lead(request, study, campaign)
    context = campaign_context(request, study, campaign)
    found: QuerySet[Recruitment] = context["campaign"].recruitments.select_related("provider")
    page = page_of(request, found, per_page=RECRUITMENTS_PER_PAGE)
    lines = lines_of(list(page.object_list))
    proposal = cells.propose(context["campaign"])
    begun = set(found.values_list("name", flat=True))
    context |= {
        "page": page,
        "lines": lines,
        "totals": totals(lines),
        "outside_budget": outside_budget(context["campaign"]),
        "cells": [(number, cell) for number, cell in enumerate(proposal.cells) if cell.name not in begun],
        "others": proposal.others,
        "panels": context["study"].providers.all(),
        "possible": _recruits(context["campaign"]),
        "drafts": context["campaign"].recruitments.filter(state="draft").exclude(remote_study="").count(),
    }
    return render(request, "recruitment/lead/list.html", context)


def _recruits(campaign: Campaign) -> bool:
    return not (campaign.imported or campaign.labelled_in or campaign.state == Campaign.State.CLOSED)


@requires(get=Capability.RECRUIT, post=Capability.RECRUIT)
class PanelNew(CampaignView, FormPage[PanelForm]):
    """Describe a panel; `?panel=` fills in a known one."""

    template_name = "recruitment/lead/panel.html"
    form_class = PanelForm

    def make_form(self, data: Any) -> PanelForm:
        return PanelForm.of(data, self.request.GET.get("panel", ""))

    def call(self) -> HttpResponse:
        provider = self.form.add(study=self.study, by=self.by)
        return self.redirect_with(f"“{provider}” is added.", self._next(), *self.place())

    def _next(self) -> str:
        """Redirect to the form of all cells if the quotas make more than one."""
        several = len(cells.propose(self.campaign).cells) > 1
        return "annotation:recruit_all" if several else "annotation:recruitment_new"

    def context(self) -> dict[str, Any]:
        return super().context() | {"known": providers.KNOWN_PANELS}


@requires(get=Capability.RECRUIT, post=Capability.RECRUIT)
class RecruitmentNew(CampaignView, FormPage[RecruitmentForm]):
    """Plan a recruitment; `?cell=` fills in a proposed cell."""

    template_name = "recruitment/lead/form.html"
    form_class = RecruitmentForm

    def instead(self) -> HttpResponse | None:
        if not self.study.providers.exists():
            return redirect("annotation:panel_new", *self.place())
        return None

    def make_form(self, data: Any) -> RecruitmentForm:
        return RecruitmentForm(data, study=self.study, initial=self._initial())

    def _initial(self) -> dict[str, Any]:
        number = self.request.GET.get("cell", "")
        proposed = cells.propose(self.campaign).cells
        if not number.isdecimal() or int(number) >= len(proposed):
            return {}
        screens = RecruitmentForm.base_fields["screens"].initial
        return {"name": proposed[int(number)].name, "places": proposed[int(number)].places(screens)}

    def call(self) -> HttpResponse:
        provider, terms = self.form.cleaned_data["provider"], self.form.terms()
        if provider.has_api:
            terms = replace(terms, fee_percent=estimate.fee_percent(provider))
        recruitment = recruitments.create(campaign=self.campaign, provider=provider, by=self.by, terms=terms)
        return self.redirect_with(
            "The recruitment is planned. Nobody can begin before you open the recruitment.",
            "annotation:recruitment",
            *self.place(),
            recruitment.pk,
        )


def site_of(request: HttpRequest) -> str:
    """Return how people reach this server."""
    return settings.SITE_URL or request.build_absolute_uri("/").rstrip("/")


def link_of(request: HttpRequest, recruitment: Recruitment) -> str:
    """Return the link for the panel, with its placeholders."""
    arrive = reverse("panel:arrive", args=[recruitment.public_id])
    return f"{site_of(request)}{arrive}?{providers.query_of(recruitment.provider)}"


class RecruitmentView(CampaignView):
    """A view of the recruitment in its address."""

    def load(self) -> None:
        super().load()
        self.recruitment = get_object_or_404(
            Recruitment.objects.select_related("provider", "campaign__study"),
            campaign=self.campaign,
            pk=self.kwargs["recruitment"],
        )

    def place(self) -> tuple[Any, ...]:
        return (*super().place(), self.recruitment.pk)


@requires(get=Capability.RECRUIT)
@never_cache
def recruitment_page(request: HttpRequest, study: str, campaign: str, recruitment: int) -> HttpResponse:
    """Show the settings for the panel, the people who came, and pending decisions."""
    campaign_for_lead(request, study, campaign)
    context = campaign_context(request, study, campaign)
    found = get_object_or_404(
        context["campaign"].recruitments.select_related("provider", "campaign__study"), pk=recruitment
    )
    state = request.GET.get("state", "")
    places = found.panel_places.select_related("enrolment__annotator")
    if state in PanelPlace.State.values:
        places = places.filter(state=state)
    background.compare_soon(found)
    context |= {
        "recruitment": found,
        "line": lines_of([found])[0],
        "reward": cost.Money(found.reward, found.currency),
        "screen_out": None
        if found.screen_out_reward is None
        else cost.Money(found.screen_out_reward, found.currency),
        "an_hour": cost.hourly(found.reward, found.minutes, found.currency),
        "earned": cost.earned(found),
        "remote_cost": None if found.remote_cost is None else cost.Money(found.remote_cost, found.currency),
        "link": link_of(request, found),
        "undecided": review.undecided(found).count(),
        "unknown": PanelPayment.objects.filter(
            place__recruitment=found, state=PanelPayment.State.UNKNOWN
        ).count(),
        "states": PanelPlace.State.choices,
        "state": state,
        "page": page_of(request, places, per_page=PLACES_PER_PAGE),
    }
    return render(request, "recruitment/lead/detail.html", context)


@requires(post=Capability.RECRUIT)
class RecruitmentStep(RecruitmentView, Button):
    """Open, pause or close it."""

    leads_to = "annotation:recruitment"

    def call(self) -> str:
        verb = draft.move if self.recruitment.provider.has_api else recruitments.move
        moved = verb(recruitment=self.recruitment, to=self.kwargs["move"], by=self.by)
        return f"“{moved}” is {moved.state}."


class PlaceView(RecruitmentView):
    """A view of the place in its address."""

    def load(self) -> None:
        super().load()
        self.panel_place = get_object_or_404(
            PanelPlace.objects.select_related("enrolment__annotator", "recruitment__campaign__study"),
            recruitment=self.recruitment,
            pk=self.kwargs["place"],
        )


@requires(get=Capability.RECRUIT, post=Capability.RECRUIT)
@method_decorator(never_cache, "dispatch")
class PlaceDecide(PlaceView, FormPage[DecisionForm]):
    """Decide about one place."""

    template_name = "recruitment/lead/place.html"
    form_class = DecisionForm
    action = "decide"
    leads_to = "annotation:recruitment"

    def call(self) -> str:
        cleaned = self.form.cleaned_data
        decision = decisions.Decision(cleaned["outcome"], cleaned["reason"], cleaned["category"])
        decided = decisions.decide(place=self.panel_place, decision=decision, by=self.by)
        if pays_by_program(self.recruitment):
            return f"The place is {decided.outcome}. The decision will be sent to the panel in a moment."
        return f"The place is {decided.outcome}. Record the same decision at the panel."

    def context(self) -> dict[str, Any]:
        shown = self.request.session.pop(_ID, {})
        return super().context() | {
            "recruitment": self.recruitment,
            "panel_place": self.panel_place,
            "payments": self.panel_place.payments.all(),
            "shown_id": identities.unseal(self.panel_place.submission_sealed)
            if shown.get("place") == self.panel_place.pk and self.panel_place.submission_sealed
            else "",
        }


@requires(post=Capability.RECRUIT)
class PlaceShow(PlaceView, Button):
    """Show the panel's id of a place once; the history records it."""

    leads_to = "annotation:recruitment"

    def call(self) -> HttpResponse:
        identities.show(place=self.panel_place, by=self.by)
        self.request.session[_ID] = {"place": self.panel_place.pk}
        return redirect("annotation:panel_place", *self.place(), self.panel_place.pk)


@requires(post=Capability.RECRUIT)
class PlaceEnd(PlaceView, Button):
    """End the place of somebody who gave it back."""

    leads_to = "annotation:recruitment"

    def call(self) -> str:
        recruitments.end_place(place=self.panel_place, by=self.by)
        return "The place has ended. The place and its open screens are free for somebody else."
