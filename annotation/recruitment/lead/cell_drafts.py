"""One form that recruits for every cell of a campaign, and one button that publishes all drafts."""

from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from accounts.rights import Capability, requires
from annotation.lead.page_context import CampaignView
from annotation.models import Campaign
from annotation.recruitment import cost, providers, recruitments
from annotation.recruitment.lead.cells import Cell, propose
from annotation.recruitment.lead.forms import AnnouncementForm, PanelForm, RecruitmentForm
from annotation.recruitment.lead.pages import link_of
from annotation.recruitment.models import Provider, Recruitment
from annotation.recruitment.prolific import draft, estimate
from annotation.recruitment.recruitments import Terms
from foundation.errors import DomainError
from studies.models import Study
from web.form_page import Confirmation, FormPage

# With more cells, recruit one by one: each needs one or two requests to the panel.
MOST_CELLS = 20


class AllCellsForm(RecruitmentForm):
    """The terms that all cells share, and the places of each; 0 leaves a cell out.

    `panel` is the form of a study's first panel, which is added with it.
    """

    field_order = ("provider",)

    def __init__(
        self, data: Any, *, study: Study, cells: list[Cell], panel: PanelForm | None = None, **keywords: Any
    ) -> None:
        super().__init__(data, study=study, **keywords)
        for name in ("name", "places", "remote_study"):
            del self.fields[name]
        self.cells, self.panel = cells, panel
        if panel is not None:
            del self.fields["provider"]
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
        ].initial = "You answer questions about pictures or texts. You can stop at any time."

    def clean(self) -> dict[str, Any]:
        if self.panel is not None and not self.panel.is_valid():
            self.add_error(None, "Fill in the fields of the panel.")
        return super().clean() or self.cleaned_data

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


@requires(get=Capability.RECRUIT, post=Capability.RECRUIT)
class RecruitAllCells(CampaignView, FormPage[AllCellsForm]):
    """Plan a recruitment for each cell that has none; at a panel with an API also create its draft."""

    template_name = "recruitment/lead/all_cells.html"
    form_class = AllCellsForm

    def load(self) -> None:
        super().load()
        begun = set(self.campaign.recruitments.values_list("name", flat=True))
        self.cells = [cell for cell in propose(self.campaign).cells if cell.name not in begun][:MOST_CELLS]
        self.panels = list(self.study.providers.order_by("pk"))

    def instead(self) -> HttpResponse | None:
        is_recruiting = self.campaign.state != Campaign.State.CLOSED and self.cells
        return None if is_recruiting else redirect("annotation:recruitments", *self.place())

    def make_form(self, data: Any) -> AllCellsForm:
        panel = None if self.panels else PanelForm.of(data, self.request.GET.get("panel", ""), prefix="panel")
        if self.panels and data is not None and "provider" not in data:
            # The form was sent with its first panel, which was added before something else was refused.
            data = data.copy()
            data["provider"] = self.panels[-1].pk
        return AllCellsForm(data, study=self.study, cells=self.cells, panel=panel)

    def context(self) -> dict[str, Any]:
        # A panel that was just added is preselected.
        panel = None if self.study.providers.exists() else self.form.panel
        return super().context() | {"panel": panel, "known": providers.KNOWN_PANELS}

    def _panel(self) -> Provider:
        if self.form.panel is None:
            provider: Provider = self.form.cleaned_data["provider"]
            return provider
        added = self.form.panel.add(study=self.study, by=self.by)
        messages.success(self.request, f"“{added}” is added.")
        return added

    def call(self) -> HttpResponse:
        terms = self.form.terms_of_cells()
        if not terms:
            raise DomainError("places_missing", "Enter the number of places for at least one cell.")
        provider = self._panel()
        if provider.has_api:
            percent = estimate.fee_percent(provider)
            terms = [replace(of_cell, fee_percent=percent) for of_cell in terms]
        created = [
            recruitments.create(campaign=self.campaign, provider=provider, by=self.by, terms=of_cell)
            for of_cell in terms
        ]
        if not provider.has_api:
            message = (
                f"{len(created)} recruitments are planned. Paste the link of each recruitment into the "
                "panel, then open the recruitments."
            )
            return self.redirect_with(message, "annotation:recruitments", *self.place())
        announcement = self.form.announcement()
        for recruitment in created:
            link = link_of(self.request, recruitment)
            draft.create(recruitment=recruitment, announcement=announcement, link=link, by=self.by)
        message = (
            f"{len(created)} drafts have been created at {provider}. Set the filters of the drafts at the panel, "
            "then publish the drafts here."
        )
        return self.redirect_with(message, "annotation:recruitments_publish", *self.place())


@dataclass(frozen=True)
class DraftLine:
    """A draft, its cost by the panel and by our own calculation, and why it cannot be published."""

    recruitment: Recruitment
    our_cost: cost.Money
    remote_cost: cost.Money | None
    problem: str


@requires(get=Capability.RECRUIT, post=Capability.RECRUIT)
@method_decorator(never_cache, "dispatch")
class RecruitmentsPublish(CampaignView, Confirmation):
    """Publish all drafts of a campaign after one confirmation."""

    template_name = "recruitment/lead/publish_all.html"
    leads_to = "annotation:campaign"

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
