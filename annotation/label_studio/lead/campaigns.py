"""A campaign in a Label Studio: beginning, how it stands, what can be done, and ending it."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.label_studio.base import job_queue
from annotation.label_studio.lead.forms import BeginForm, CleanupForm, RenewForm
from annotation.label_studio.overview import arrangements
from annotation.label_studio.overview.queries import bridge_of, shown
from annotation.label_studio.pull import cleanup, deletions
from annotation.label_studio.push import image_access, lifecycle
from annotation.lead.forms import show_refusal
from annotation.lead.page_context import campaign_for_lead, person
from annotation.models import Campaign, LabelStudioBridge
from foundation.errors import DomainError
from jobs.models import Job

_WORK: dict[str, tuple[Callable[..., Job], str]] = {
    "push": (job_queue.start_push, "What is missing there is being sent."),
    "reconcile": (job_queue.start_reconcile, "Everything there is being compared with what is known here."),
    "replace": (
        job_queue.start_addresses,
        "Every screen there gets a new address of its image; the old ones stop working.",
    ),
}

_MISSING: dict[str, tuple[Callable[..., int], str]] = {
    "deleted": (
        deletions.confirm_deletions,
        "They were deleted: their labels leave results, and their places are free.",
    ),
    "kept": (
        deletions.keep_labels,
        "The labels are kept. Push again, so that nobody is asked for them a second time.",
    ),
}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def bridge_page(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """How the campaign stands over there, or how to begin."""
    found = campaign_for_lead(request, study, campaign)
    bridge = bridge_of(found)
    if bridge is not None:
        bridge.campaign = found
        return _page(request, bridge, RenewForm())
    form = BeginForm(request.POST or None, campaign=found)
    if request.method == "POST" and form.is_valid():
        try:
            begun = lifecycle.begin(campaign=found, by=person(request), **form.cleaned_data)
            if found.state != Campaign.State.DRAFT:
                job_queue.start_push(bridge=begun, by=person(request))
        except DomainError as error:
            show_refusal(form, error)
        else:
            messages.success(request, "The campaign is now labelled in Label Studio.")
            return redirect("annotation:campaign_label_studio", study, campaign)
    context = {**_context(found), "form": form, "offered": arrangements.offered(found)}
    status = 400 if form.errors else 200
    return render(request, "annotation/label_studio/campaigns/begin.html", context, status=status)


@login_required
@require_safe
def bridge_live(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Answer the part of the page that is kept up to date."""
    bridge = bridge_for_lead(request, study, campaign)
    answer = render(request, "annotation/label_studio/campaigns/_live.html", _shown(bridge))
    answer["Cache-Control"] = "no-store"
    return answer


@login_required
@require_POST
def bridge_work(request: HttpRequest, study: str, campaign: str, work: str) -> HttpResponse:
    """Start what takes longer than a page."""
    bridge = bridge_for_lead(request, study, campaign)
    start, said = _WORK[work]
    _do(request, said, start, bridge=bridge)
    return redirect("annotation:campaign_label_studio", study, campaign)


@login_required
@require_POST
def bridge_renew(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Let addresses of images work longer."""
    bridge = bridge_for_lead(request, study, campaign)
    form = RenewForm(request.POST)
    if not form.is_valid():
        return _page(request, bridge, form, status=400)
    days = form.cleaned_data["days"]
    _do(request, "The addresses work longer now.", image_access.renew, bridge=bridge, days=days)
    return redirect("annotation:campaign_label_studio", study, campaign)


@login_required
@require_safe
def bridge_missing(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Say what is no longer there, and what each of the two decisions about it does."""
    bridge = bridge_for_lead(request, study, campaign)
    context = _context(bridge.campaign) | {"bridge": bridge, "held": deletions.held(bridge)}
    return render(request, "annotation/label_studio/campaigns/deletions.html", context)


@login_required
@require_POST
def bridge_missing_was(request: HttpRequest, study: str, campaign: str, decision: str) -> HttpResponse:
    """Take what is no longer there for deleted, or keep its labels."""
    bridge = bridge_for_lead(request, study, campaign)
    verb, said = _MISSING[decision]
    _do(request, said, verb, bridge=bridge)
    return redirect("annotation:campaign_label_studio", study, campaign)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def bridge_cleanup(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Say what counts for nothing and of whom it is, and have it deleted there once that is confirmed."""
    bridge = bridge_for_lead(request, study, campaign)
    lines = cleanup.lines_of(bridge)
    form = CleanupForm(request.POST or None, lines=lines)
    if request.method == "POST" and form.is_valid():
        kinds = form.cleaned_data["kinds"]
        _do(request, "The answers are being deleted.", cleanup.start, bridge=bridge, kinds=kinds)
        return redirect("annotation:campaign_label_studio", study, campaign)
    context = _context(bridge.campaign) | {"bridge": bridge, "lines": lines, "form": form}
    context["kinds"] = cleanup.KINDS
    status = 400 if form.errors else 200
    return render(request, "annotation/label_studio/campaigns/cleanup.html", context, status=status)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def bridge_end(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Say what ending does, then do it."""
    bridge = bridge_for_lead(request, study, campaign)
    if request.method == "POST":
        _do(request, "The campaign is labelled here again.", lifecycle.end, bridge=bridge)
        return redirect("annotation:campaign", study, campaign)
    return render(request, "annotation/label_studio/campaigns/end.html", _shown(bridge))


def bridge_for_lead(request: HttpRequest, study: str, campaign: str) -> LabelStudioBridge:
    """Return the campaign's part in a Label Studio if the person leads its study and it has one."""
    found = campaign_for_lead(request, study, campaign)
    bridge = get_object_or_404(LabelStudioBridge.objects.select_related("server"), campaign=found)
    bridge.campaign = found
    return bridge


def _context(campaign: Campaign) -> dict[str, Any]:
    return {"study": campaign.study, "campaign": campaign, "may_change": True}


def _shown(bridge: LabelStudioBridge) -> dict[str, Any]:
    return _context(bridge.campaign) | {
        "bridge": bridge,
        "shown": shown(bridge),
        "arrangement": arrangements.in_words(bridge),
        "minutes": settings.LABEL_STUDIO_RECONCILE_MINUTES,
    }


def _page(
    request: HttpRequest, bridge: LabelStudioBridge, form: RenewForm, *, status: int = 200
) -> HttpResponse:
    context = _shown(bridge) | {"form": form}
    return render(request, "annotation/label_studio/campaigns/detail.html", context, status=status)


def _do(request: HttpRequest, said: str, verb: Callable[..., Any], **arguments: Any) -> None:
    try:
        verb(by=person(request), **arguments)
    except DomainError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, said)
