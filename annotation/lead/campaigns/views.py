"""A study's campaigns; one campaign's settings, progress and state."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.answers import replacement
from annotation.campaigns import feasibility, lifecycle, notices
from annotation.campaigns.planning.estimate import asking
from annotation.campaigns.settings_text import settings_in_words
from annotation.label_studio.overview.queries import bridge_of
from annotation.lead.campaigns.overview import campaign_lines
from annotation.lead.campaigns.progress import progress_page
from annotation.lead.page_context import campaign_context, campaign_for_lead, page_of, person, study_context
from annotation.models import Campaign, Notice
from foundation.errors import DomainError

CAMPAIGNS_PER_PAGE = 20
_MOVES: dict[str, tuple[Callable[..., Campaign], str]] = {
    "open": (lifecycle.open_, "“{}” is open. Invite annotators by link."),
    "pause": (lifecycle.pause, "“{}” is paused: nobody gets a new task."),
    "resume": (lifecycle.resume, "“{}” is open again."),
    "close": (lifecycle.close, "“{}” is closed."),
    "reopen": (lifecycle.reopen, "“{}” is open again."),
}


@login_required
@require_safe
def campaign_list(request: HttpRequest, study: str) -> HttpResponse:
    """Every campaign of the study, newest first."""
    context = study_context(request, study)
    page = page_of(request, context["study"].campaigns.order_by("-pk"), per_page=CAMPAIGNS_PER_PAGE)
    keys = [campaign.pk for campaign in page.object_list]
    lines = campaign_lines(Campaign.objects.filter(pk__in=keys)).get(context["study"].pk, [])
    return render(
        request, "annotation/lead/campaigns/list.html", {**context, "page": page, "campaigns": lines}
    )


@login_required
@require_safe
def campaign_page(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """What is asked, in which state it is, and how far it is."""
    context = campaign_context(request, study, campaign)
    shown: Campaign = context["campaign"]
    context["settings"] = settings_in_words(shown)
    context["instrument"] = shown.instruments.first()
    context["bridge"] = bridge_of(shown)
    if shown.state == Campaign.State.DRAFT:
        context["asking"] = asking(shown)
        context["quotas"] = feasibility.before_opening(shown, context["asking"].plan)
    else:
        context |= _progress(shown)
    if shown.state in {Campaign.State.OPEN, Campaign.State.PAUSED} and not shown.imported:
        context["in_vain"] = replacement.in_vain(shown)
    return render(request, "annotation/lead/campaigns/detail.html", context)


@login_required
@require_safe
def campaign_progress(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Answer the live part of the page."""
    context = campaign_context(request, study, campaign)
    context |= _progress(context["campaign"])
    return render(request, "annotation/lead/campaigns/_progress.html", context)


@login_required
@require_POST
def campaign_move(request: HttpRequest, study: str, campaign: str, move: str) -> HttpResponse:
    """Open, pause, resume, close or reopen."""
    found = campaign_for_lead(request, study, campaign)
    verb, said = _MOVES[move]
    try:
        verb(campaign=found, by=person(request))
    except DomainError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, said.format(found.name))
    return redirect("annotation:campaign", study, campaign)


@login_required
@require_safe
def campaign_close_confirm(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Say what closing does, before it is done."""
    found = campaign_for_lead(request, study, campaign)
    context = campaign_context(request, study, campaign)
    context |= _progress(found, wait=True)
    progress = context["shown"].progress
    context["short"] = progress.tasks - progress.complete
    return render(request, "annotation/lead/campaigns/close.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def campaign_delete(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Delete a draft, once that is confirmed."""
    found = campaign_for_lead(request, study, campaign)
    if request.method == "POST":
        lifecycle.delete_draft(campaign=found, by=person(request))
        messages.success(request, f"The draft “{found.name}” is deleted.")
        return redirect("annotation:campaigns", study)
    return render(
        request, "annotation/lead/campaigns/delete_draft.html", campaign_context(request, study, campaign)
    )


def _progress(campaign: Campaign, *, wait: bool = False) -> dict[str, Any]:
    notices.look(campaigns=[campaign.pk])
    stuck = campaign.notices.filter(kind=Notice.Kind.STUCK, resolved_at=None).first()
    return {"shown": progress_page(campaign, wait=wait), "stuck": stuck}
