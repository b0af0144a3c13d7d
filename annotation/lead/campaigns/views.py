"""A study's campaigns; one campaign's settings, progress and state."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from accounts.rights import Capability, requires
from annotation import integrations
from annotation.answers import freed_slots
from annotation.campaigns import feasibility, lifecycle
from annotation.campaigns.planning.estimate import estimate
from annotation.campaigns.settings_text import settings_in_words
from annotation.launch.checklist import open_checked
from annotation.lead.campaigns.outcome import outcome_of
from annotation.lead.campaigns.overview import campaign_lines
from annotation.lead.campaigns.progress import progress_page
from annotation.lead.page_context import (
    CampaignView,
    campaign_context,
    campaign_for_lead,
    page_of,
    person,
    study_context,
)
from annotation.models import Campaign, Notice, PrecisionLook
from annotation.watch import notices
from web.form_page import Button

CAMPAIGNS_PER_PAGE = 20
_LOOKS_SHOWN = 10
_MOVES: dict[str, tuple[Callable[..., Campaign], str]] = {
    "open": (open_checked, "“{}” is open. Invite annotators by link."),
    "pause": (lifecycle.pause, "“{}” is paused: nobody gets a new task."),
    "resume": (lifecycle.resume, "“{}” is open again."),
    "close": (lifecycle.close, "“{}” is closed."),
    "reopen": (lifecycle.reopen, "“{}” is open again."),
}


@requires(get=Capability.SEE_CAMPAIGNS)
def campaign_list(request: HttpRequest, study: str) -> HttpResponse:
    """Every campaign of the study, newest first."""
    context = study_context(request, study)
    page = page_of(request, context["study"].campaigns.order_by("-pk"), per_page=CAMPAIGNS_PER_PAGE)
    keys = [campaign.pk for campaign in page.object_list]
    lines = campaign_lines(Campaign.objects.filter(pk__in=keys)).get(context["study"].pk, [])
    return render(
        request, "annotation/lead/campaigns/list.html", {**context, "page": page, "campaigns": lines}
    )


@requires(get=Capability.SEE_CAMPAIGNS)
def campaign_page(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Show a campaign's settings, state and progress."""
    context = campaign_context(request, study, campaign)
    study_campaign: Campaign = context["campaign"]
    context["settings"] = settings_in_words(study_campaign)
    context["instrument"] = study_campaign.instruments.first()
    tool = integrations.tool_of(study_campaign)
    context["panel"] = tool.campaign_panel(study_campaign) if tool is not None else None
    if study_campaign.state == Campaign.State.DRAFT:
        context["asking"] = estimate(study_campaign)
        context["quotas"] = feasibility.before_opening(study_campaign, context["asking"].plan)
        context["cells"] = context["quotas"].cells
    else:
        context |= _progress(study_campaign)
        progress = context["shown"]
        is_complete = progress is not None and progress.progress.finished
        context["outcome"] = outcome_of(study_campaign, is_complete=is_complete)
    if study_campaign.state in {Campaign.State.OPEN, Campaign.State.PAUSED} and not study_campaign.imported:
        context["in_vain"] = freed_slots.in_vain(study_campaign)
    return render(request, "annotation/lead/campaigns/detail.html", context)


@requires(get=Capability.SEE_CAMPAIGNS)
def campaign_progress(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Return the live part of the page."""
    context = campaign_context(request, study, campaign)
    context |= _progress(context["campaign"])
    return render(request, "annotation/lead/campaigns/_progress.html", context)


@requires(post=Capability.RUN_CAMPAIGNS)
class CampaignStep(CampaignView, Button):
    """Open, pause, resume, close or reopen."""

    leads_to = "annotation:campaign"

    def call(self) -> str:
        verb, message = _MOVES[self.kwargs["move"]]
        verb(campaign=self.campaign, by=self.by)
        return message.format(self.campaign.name)


@requires(get=Capability.RUN_CAMPAIGNS)
def campaign_close_confirm(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Confirm closing, after explaining its effect."""
    study_campaign = campaign_for_lead(request, study, campaign)
    context = campaign_context(request, study, campaign)
    context |= _progress(study_campaign, wait=True)
    progress = context["shown"].progress
    context["short"] = progress.tasks - progress.complete
    return render(request, "annotation/lead/campaigns/close.html", context)


@requires(get=Capability.RUN_CAMPAIGNS, post=Capability.RUN_CAMPAIGNS)
def campaign_delete(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Delete a draft after confirmation."""
    study_campaign = campaign_for_lead(request, study, campaign)
    if request.method == "POST":
        lifecycle.delete_draft(campaign=study_campaign, by=person(request))
        messages.success(request, f"The draft “{study_campaign.name}” is deleted.")
        return redirect("annotation:campaigns", study)
    return render(
        request, "annotation/lead/campaigns/delete_draft.html", campaign_context(request, study, campaign)
    )


def _progress(campaign: Campaign, *, wait: bool = False) -> dict[str, Any]:
    # Other parts of the page show what is finished and whom the quotas lack.
    hidden = {Notice.Kind.FINISHED, Notice.Kind.SHORTFALL}
    return {
        "shown": progress_page(campaign, wait=wait),
        "notices": [notice for notice in notices.current(campaign) if notice.kind not in hidden],
        "looks": _looks(campaign),
    }


def _looks(campaign: Campaign) -> list[PrecisionLook]:
    """Return the newest looks at the precision of a campaign that has such a rule."""
    if "stop_half_width" not in campaign.options:
        return []
    return list(campaign.precision_looks.order_by("-number")[:_LOOKS_SHOWN])
