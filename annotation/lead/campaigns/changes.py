"""Pages that change an opened campaign's settings or annotators per task, or copy it."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from accounts.rights import Capability, requires
from annotation.campaigns import clone, extension, lifecycle
from annotation.campaigns.settings_text import fixed_in_words
from annotation.lead.campaigns.settings_form import CopyForm, ExtensionForm, SettingsForm
from annotation.lead.page_context import CampaignView, campaign_context, campaign_for_lead, person
from annotation.models import Campaign
from foundation.errors import DomainError, NotFound
from web.form_page import FormPage


class LabelledHere(CampaignView):
    """A view of a campaign that asks people something."""

    def load(self) -> None:
        super().load()
        _refuse_imported(self.campaign)


@requires(get=Capability.RUN_CAMPAIGNS, post=Capability.RUN_CAMPAIGNS)
class CampaignSettingsPage(LabelledHere, FormPage[SettingsForm]):
    """Change the settings that may change while people work; show all others as fixed."""

    template_name = "annotation/lead/campaigns/settings.html"
    leads_to = "annotation:campaign"

    def instead(self) -> HttpResponse | None:
        draft = self.campaign.state == Campaign.State.DRAFT
        return redirect("annotation:campaign_edit", *self.place()) if draft else None

    def make_form(self, data: Any) -> SettingsForm:
        return SettingsForm(data, campaign=self.campaign)

    def call(self) -> str:
        lifecycle.change_settings(campaign=self.campaign, by=self.by, **self.form.settings())
        return "The settings are changed and apply from now on."

    def context(self) -> dict[str, Any]:
        return super().context() | {"fixed": fixed_in_words(self.campaign)}


@requires(get=Capability.RUN_CAMPAIGNS, post=Capability.RUN_CAMPAIGNS)
def campaign_extend(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Choose the number of annotators per task, read its effect, then confirm."""
    study_campaign = campaign_for_lead(request, study, campaign)
    _refuse_imported(study_campaign)
    data = (
        request.POST
        if request.method == "POST"
        else request.GET
        if "annotators_per_task" in request.GET
        else None
    )
    form = ExtensionForm(
        data, initial={"annotators_per_task": min(100, study_campaign.annotators_per_task + 2)}
    )
    ahead = None
    if data is not None and form.is_valid():
        annotators_per_task = form.cleaned_data["annotators_per_task"]
        if request.method == "POST":
            try:
                extension.extend(
                    campaign=study_campaign, by=person(request), annotators_per_task=annotators_per_task
                )
            except DomainError as error:
                messages.error(request, error.message)
            else:
                messages.success(request, f"Each screen is now answered by {annotators_per_task} people.")
            return redirect("annotation:campaign", study, campaign)
        ahead = extension.look_ahead(study_campaign, annotators_per_task)
    context = campaign_context(request, study, campaign, form=form, ahead=ahead)
    return render(
        request, "annotation/lead/campaigns/extend.html", context, status=400 if form.errors else 200
    )


@requires(get=Capability.RUN_CAMPAIGNS, post=Capability.RUN_CAMPAIGNS)
class CampaignCopy(LabelledHere, FormPage[CopyForm]):
    """Make a draft like this campaign."""

    template_name = "annotation/lead/campaigns/copy.html"

    def make_form(self, data: Any) -> CopyForm:
        return CopyForm(data, initial={"name": clone.free_name(self.campaign)})

    def call(self) -> HttpResponse:
        draft = clone.clone(campaign=self.campaign, by=self.by, **self.form.cleaned_data)
        message = f"“{draft.name}” is a draft. Edit the draft instead."
        return self.redirect_with(message, "annotation:campaign", self.study.slug, draft.slug)


def _refuse_imported(campaign: Campaign) -> None:
    if campaign.imported:
        raise NotFound(
            "campaign_imported", f"“{campaign.name}” was imported from a file, so it cannot be extended."
        )
