"""Changing a campaign that was opened: its settings, how many answer each screen; and making a copy of it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.campaigns import clone, extension, lifecycle
from annotation.campaigns.settings_text import fixed_in_words
from annotation.lead.campaigns.settings_form import CopyForm, ExtensionForm, SettingsForm
from annotation.lead.forms import show_refusal
from annotation.lead.page_context import campaign_context, campaign_for_lead, person
from annotation.models import Campaign
from foundation.errors import DomainError, NotFound


@login_required
@require_http_methods(["GET", "POST"])
def campaign_settings(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Change what may change while people work; the rest is shown as fixed."""
    found = _asking(request, study, campaign)
    if found.state == Campaign.State.DRAFT:
        return redirect("annotation:campaign_edit", study, campaign)
    form = SettingsForm(request.POST if request.method == "POST" else None, campaign=found)
    if request.method == "POST" and form.is_valid():
        try:
            lifecycle.change_settings(campaign=found, by=person(request), **form.settings())
        except DomainError as error:
            show_refusal(form, error)
        else:
            messages.success(request, "The settings are changed. They hold from now on.")
            return redirect("annotation:campaign", study, campaign)
    context = campaign_context(request, study, campaign, form=form, fixed=fixed_in_words(found))
    return render(
        request, "annotation/lead/campaigns/settings.html", context, status=400 if form.errors else 200
    )


@login_required
@require_http_methods(["GET", "POST"])
def campaign_extend(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Choose how many people answer each screen, read what follows from it, then confirm."""
    found = _asking(request, study, campaign)
    typed = (
        request.POST
        if request.method == "POST"
        else request.GET
        if "annotators_per_task" in request.GET
        else None
    )
    form = ExtensionForm(typed, initial={"annotators_per_task": min(100, found.annotators_per_task + 2)})
    ahead = None
    if typed is not None and form.is_valid():
        wanted = form.cleaned_data["annotators_per_task"]
        if request.method == "POST":
            try:
                extension.extend(campaign=found, by=person(request), annotators_per_task=wanted)
            except DomainError as error:
                messages.error(request, error.message)
            else:
                messages.success(request, f"Each screen is now asked of {wanted} people.")
            return redirect("annotation:campaign", study, campaign)
        ahead = extension.look_ahead(found, wanted)
    context = campaign_context(request, study, campaign, form=form, ahead=ahead)
    return render(
        request, "annotation/lead/campaigns/extend.html", context, status=400 if form.errors else 200
    )


@login_required
@require_http_methods(["GET", "POST"])
def campaign_copy(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Make a draft like this campaign."""
    found = _asking(request, study, campaign)
    form = CopyForm(
        request.POST if request.method == "POST" else None, initial={"name": clone.free_name(found)}
    )
    if request.method == "POST" and form.is_valid():
        try:
            draft = clone.clone(campaign=found, by=person(request), **form.cleaned_data)
        except DomainError as error:
            show_refusal(form, error)
        else:
            messages.success(request, f"“{draft.name}” is a draft: change what you like, then open it.")
            return redirect("annotation:campaign", study, draft.slug)
    context = campaign_context(request, study, campaign, form=form)
    return render(request, "annotation/lead/campaigns/copy.html", context, status=400 if form.errors else 200)


def _asking(request: HttpRequest, study: str, slug: str) -> Campaign:
    """Return the lead's campaign, unless its labels were imported: such a one asks nobody anything."""
    found = campaign_for_lead(request, study, slug)
    if found.imported:
        raise NotFound(
            "campaign_imported", f"“{found.name}” was imported from a file: it asks nobody anything."
        )
    return found
