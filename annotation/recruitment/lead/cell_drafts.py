"""One form that recruits for every cell of a campaign, and one press that publishes all drafts."""

from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from annotation.lead.page_context import CampaignView
from annotation.recruitment import cost, recruitments
from annotation.recruitment.lead.cells import Cell, propose
from annotation.recruitment.lead.forms import AnnouncementForm, RecruitmentForm
from annotation.recruitment.lead.pages import link_of
from annotation.recruitment.models import Recruitment
from annotation.recruitment.prolific import draft, estimate
from annotation.recruitment.recruitments import Terms
from foundation.errors import DomainError
from studies.models import Study
from web.form_page import Confirmation, FormPage

# More cells than these are recruited one by one: each is a request to the panel or two.
MOST_CELLS = 20


class AllCellsForm(RecruitmentForm):
    """The terms that all cells share, and the places of each; 0 leaves a cell out."""

    field_order = ("provider",)

    def __init__(self, *arguments: Any, study: Study, cells: list[Cell], **keywords: Any) -> None:
        super().__init__(*arguments, study=study, **keywords)
        for name in ("name", "places", "remote_study"):
            del self.fields[name]
        self.cells = cells
        screens = self.fields["screens"].initial
        for number, cell in enumerate(cells):
            self.fields[f"places_{number}"] = forms.IntegerField(
                min_value=0,
                max_value=100_000,
                label=f"Places: {cell.name}",
                initial=cell.places(screens),
                help_text=f"{cell.answers:,} screens to answer." if not number else "",
            )
        for name in ("title", "description"):
            self.fields[name] = AnnouncementForm.base_fields[name]
            self.fields[name].required = False
        self.fields[
            "description"
        ].initial = "You answer screens about pictures or texts. You can stop at any time."

    def announcement(self) -> draft.Announcement:
        return draft.Announcement(
            self.cleaned_data["title"].strip(), self.cleaned_data["description"].strip()
        )

    def terms_of_cells(self) -> list[Terms]:
        cleaned = self.cleaned_data
        shared = {
            "screens": cleaned["screens"],
            "minutes": cleaned["minutes"],
            "reward": cleaned["reward"],
            "currency": cleaned["currency"].upper(),
            "fee_percent": cleaned["fee_percent"],
        }
        places = [cleaned[f"places_{number}"] for number in range(len(self.cells))]
        return [
            Terms(name=cell.name, places=number, **shared)
            for cell, number in zip(self.cells, places, strict=True)
            if number
        ]


class RecruitAllCells(CampaignView, FormPage[AllCellsForm]):
    """Plan a recruitment for each cell that has none; at a panel with an API also create its draft."""

    template_name = "recruitment/lead/all_cells.html"
    form_class = AllCellsForm

    def load(self) -> None:
        super().load()
        begun = set(self.campaign.recruitments.values_list("name", flat=True))
        self.cells = [cell for cell in propose(self.campaign).cells if cell.name not in begun][:MOST_CELLS]

    def instead(self) -> HttpResponse | None:
        if not self.study.providers.exists():
            return redirect("annotation:panel_new", *self.place())
        return None if self.cells else redirect("annotation:recruitments", *self.place())

    def make_form(self, data: Any) -> AllCellsForm:
        return AllCellsForm(data, study=self.study, cells=self.cells)

    def call(self) -> HttpResponse:
        provider, terms = self.form.cleaned_data["provider"], self.form.terms_of_cells()
        if not terms:
            raise DomainError("places_missing", "Enter the number of places for at least one cell.")
        if provider.has_api:
            percent = estimate.fee_percent(provider)
            terms = [replace(of_cell, fee_percent=percent) for of_cell in terms]
        created = [
            recruitments.create(campaign=self.campaign, provider=provider, by=self.by, terms=of_cell)
            for of_cell in terms
        ]
        if not provider.has_api:
            message = (
                f"{len(created)} recruitments are planned. Paste their links into the panel, then open them."
            )
            return self.redirect_with(message, "annotation:recruitments", *self.place())
        announcement = self.form.announcement()
        for recruitment in created:
            link = link_of(self.request, recruitment)
            draft.create(recruitment=recruitment, announcement=announcement, link=link, by=self.by)
        message = f"{len(created)} drafts are at {provider}. Set their filters there, then publish them here."
        return self.redirect_with(message, "annotation:recruitments_publish", *self.place())


@dataclass(frozen=True)
class DraftLine:
    """A draft, its cost as the panel says and as we count it, and why it cannot be published."""

    recruitment: Recruitment
    our_cost: cost.Money
    remote_cost: cost.Money | None
    problem: str


@method_decorator(never_cache, "dispatch")
class RecruitmentsPublish(CampaignView, Confirmation):
    """Publish all drafts of a campaign after one confirming press."""

    template_name = "recruitment/lead/publish_all.html"
    leads_to = "annotation:recruitments"

    def load(self) -> None:
        super().load()
        drafts = self.campaign.recruitments.filter(state=Recruitment.State.DRAFT).exclude(remote_study="")
        self.drafts = list(drafts.select_related("provider", "campaign__study").order_by("pk")[:MOST_CELLS])

    def context(self) -> dict[str, Any]:
        lines = [_line(recruitment) for recruitment in self.drafts]
        return super().context() | {
            "lines": lines,
            "is_ready": bool(lines)
            and self.campaign.state == "open"
            and not any(line.problem for line in lines),
            "total": _sum([line.remote_cost for line in lines if line.remote_cost]),
        }

    def call(self) -> str:
        for recruitment in self.drafts:
            draft.publish(recruitment=recruitment, by=self.by)
        return f"{len(self.drafts)} recruitments are published. People can take places now."


def _line(recruitment: Recruitment) -> DraftLine:
    planned = cost.total(recruitment, recruitment.places)
    try:
        answers = estimate.ask(recruitment)
    except DomainError as error:
        return DraftLine(recruitment, planned, None, error.message)
    return DraftLine(recruitment, planned, answers.remote_cost, estimate.refusal(recruitment, answers))


def _sum(amounts: list[cost.Money]) -> cost.Money | None:
    if len({amount.currency for amount in amounts}) != 1:
        return None
    return cost.Money(sum(amount.units for amount in amounts), amounts[0].currency)
