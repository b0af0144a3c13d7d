"""Links into a campaign: making them, showing each once, taking them back."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.lead.forms import InvitationForm, show_refusal
from annotation.lead.page_context import campaign_context, campaign_for_lead, page_of, person
from annotation.lead.people.invitation_lines import invitation_lines
from annotation.models import Invitation
from annotation.people import invitations
from foundation.errors import DomainError

LINKS_PER_PAGE = 20
# Where a link waits between the request that makes it and the one page that shows it.
_MADE = "lead_invitation_made"


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def invitation_list(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Every link and its state; a lead makes new ones here."""
    context = campaign_context(request, study, campaign)
    form = InvitationForm(request.POST or None)
    if request.method == "POST":
        found = campaign_for_lead(request, study, campaign)
        if form.is_valid():
            try:
                invitation, token = invitations.invite(campaign=found, by=person(request), **form.settings())
            except DomainError as error:
                show_refusal(form, error)
            else:
                return show_once(request, study, campaign, invitation, token)
    links = invitations.shown_to_leads(context["campaign"]).select_related("annotator", "created_by")
    page = page_of(request, links, per_page=LINKS_PER_PAGE)
    context |= {"form": form, "page": page, "lines": invitation_lines(page.object_list)}
    return render(
        request, "annotation/lead/people/invitations.html", context, status=400 if form.errors else 200
    )


@never_cache
@login_required
@require_safe
def invitation_made(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Show a link that was just made, and never again: only its hash is kept."""
    campaign_for_lead(request, study, campaign)
    context = campaign_context(request, study, campaign)
    made: dict[str, Any] = request.session.pop(_MADE, {})
    if made.get("campaign") != context["campaign"].pk:
        return redirect("annotation:invitations", study, campaign)
    invitation = get_object_or_404(context["campaign"].invitations, pk=made["invitation"])
    context |= {"invitation": invitation, "address": made["address"], "back": made["back"]}
    return render(request, "annotation/lead/people/invitation_made.html", context)


@login_required
@require_POST
def invitation_revoke(request: HttpRequest, study: str, campaign: str, invitation: int) -> HttpResponse:
    """Make a link useless. Who joined with it stays."""
    found = _own(request, study, campaign, invitation)
    try:
        invitations.revoke(invitation=found, by=person(request))
    except DomainError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"The link “{found}” is revoked.")
    return redirect("annotation:invitations", study, campaign)


@login_required
@require_POST
def invitation_reissue(request: HttpRequest, study: str, campaign: str, invitation: int) -> HttpResponse:
    """Make a new link in place of a lost one: whoever used the old one stays the same annotator."""
    found = _own(request, study, campaign, invitation)
    try:
        fresh, token = invitations.reissue(invitation=found, by=person(request))
    except DomainError as error:
        messages.error(request, error.message)
        return redirect("annotation:invitations", study, campaign)
    return show_once(request, study, campaign, fresh, token)


def _own(request: HttpRequest, study: str, campaign: str, invitation: int) -> Invitation:
    found = campaign_for_lead(request, study, campaign)
    return get_object_or_404(found.invitations, pk=invitation)


def show_once(
    request: HttpRequest, study: str, campaign: str, invitation: Invitation, token: str, *, back: str = ""
) -> HttpResponse:
    """Lead to the one page that shows the link; from there it goes on to `back`, or to all links."""
    request.session[_MADE] = {
        "campaign": invitation.campaign_id,
        "invitation": invitation.pk,
        "address": request.build_absolute_uri(reverse("annotate:invitation", args=[token])),
        "back": back or reverse("annotation:invitations", args=[study, campaign]),
    }
    return redirect("annotation:invitation_made", study, campaign)
