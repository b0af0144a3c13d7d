"""Pages of invitation links: create, show once, reissue and revoke."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.lead.forms import InvitationForm, PersonalLinksForm
from annotation.lead.page_context import CampaignView, campaign_context, campaign_for_lead, page_of
from annotation.models import Enrolment, Invitation
from annotation.people import invitations
from web.form_page import Button, FormPage

LINKS_PER_PAGE = 20
# Session key of a new link, until the page that shows it.
_MADE = "lead_invitation_made"


@dataclass(frozen=True)
class InvitationLine:
    """A link with how many people joined with it, and whether it still works."""

    invitation: Invitation
    joined: int
    state: str  # usable, used up, expired, revoked

    @property
    def tone(self) -> str:
        return {"usable": "active", "revoked": "bad"}.get(self.state, "quiet")

    @property
    def personal(self) -> bool:
        return self.invitation.limit == 1


def invitation_lines(invitations: Iterable[Invitation]) -> list[InvitationLine]:
    """Return the links with their states; one query for how many joined with each."""
    invitations = list(invitations)
    joined = dict(
        Enrolment.objects.filter(invitation__in=[invitation.pk for invitation in invitations])
        .order_by()
        .values("invitation")
        .annotate(n=Count("pk"))
        .values_list("invitation", "n")
    )
    return [
        InvitationLine(
            invitation, joined.get(invitation.pk, 0), _state(invitation, joined.get(invitation.pk, 0))
        )
        for invitation in invitations
    ]


def _state(invitation: Invitation, joined: int) -> str:
    if invitation.revoked_at is not None:
        return "revoked"
    if invitation.expires_at is not None and invitation.expires_at <= timezone.now():
        return "expired"
    # A personal link goes on bringing its one person back after they joined.
    return "used up" if joined >= invitation.limit and invitation.limit > 1 else "usable"


@method_decorator(never_cache, "dispatch")
class InvitationList(CampaignView, FormPage[InvitationForm]):
    """List the links with their states; leads create new ones here."""

    readers = None
    template_name = "annotation/lead/people/invitations.html"
    form_class = InvitationForm

    def call(self) -> HttpResponse:
        invitation, token = invitations.invite(campaign=self.campaign, by=self.by, **self.form.settings())
        return show_once(self.request, self.place(), invitation, token)

    def context(self) -> dict[str, Any]:
        links = invitations.shown_to_leads(self.campaign).select_related("annotator", "created_by")
        page = page_of(self.request, links, per_page=LINKS_PER_PAGE)
        return super().context() | {"page": page, "lines": invitation_lines(page.object_list)}


@method_decorator(never_cache, "dispatch")
class PersonalLinks(CampaignView, FormPage[PersonalLinksForm]):
    """Create a personal link for each note, and show all of them this once."""

    template_name = "annotation/lead/people/personal_links.html"
    form_class = PersonalLinksForm

    def call(self) -> HttpResponse:
        made = invitations.invite_each(campaign=self.campaign, by=self.by, **self.form.settings())
        links = "\n".join(f"{invitation.label}\t{self._address(token)}" for invitation, token in made)
        # Shown in the answer itself: no session keeps hundreds of links that sign people in.
        return render(self.request, self.template_name, self.context() | {"links": links})

    def context(self) -> dict[str, Any]:
        return super().context() | {"most": invitations.MOST_AT_ONCE}

    def _address(self, token: str) -> str:
        return self.request.build_absolute_uri(reverse("annotate:invitation", args=[token]))


@never_cache
@login_required
@require_safe
def invitation_made(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Show a new link once: only its hash is stored."""
    campaign_for_lead(request, study, campaign)
    context = campaign_context(request, study, campaign)
    link: dict[str, Any] = request.session.pop(_MADE, {})
    if link.get("campaign") != context["campaign"].pk:
        return redirect("annotation:invitations", study, campaign)
    invitation = get_object_or_404(context["campaign"].invitations, pk=link["invitation"])
    context |= {"invitation": invitation, "address": link["address"], "back": link["back"]}
    return render(request, "annotation/lead/people/invitation_made.html", context)


class InvitationButton(CampaignView, Button):
    """A button beside a link."""

    leads_to = "annotation:invitations"

    def load(self) -> None:
        super().load()
        self.invitation = get_object_or_404(self.campaign.invitations, pk=self.kwargs["invitation"])


class InvitationRevoke(InvitationButton):
    """Revoke a link. Annotators who joined with it stay."""

    def call(self) -> str:
        invitations.revoke(invitation=self.invitation, by=self.by)
        return f"The link “{self.invitation}” is revoked."


class InvitationReissue(InvitationButton):
    """Replace a lost link; annotators who used the old one stay the same."""

    def call(self) -> HttpResponse:
        fresh, token = invitations.reissue(invitation=self.invitation, by=self.by)
        return show_once(self.request, self.place(), fresh, token)


def show_once(
    request: HttpRequest, place: tuple[Any, ...], invitation: Invitation, token: str, *, back: str = ""
) -> HttpResponse:
    """Redirect to the page that shows the link once; it leads on to `back`, or to all links.

    `place` is the study and the campaign as they stand in addresses.
    """
    request.session[_MADE] = {
        "campaign": invitation.campaign_id,
        "invitation": invitation.pk,
        "address": request.build_absolute_uri(reverse("annotate:invitation", args=[token])),
        "back": back or reverse("annotation:invitations", args=place),
    }
    return redirect("annotation:invitation_made", *place)
