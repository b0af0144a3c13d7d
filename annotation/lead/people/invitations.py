"""Pages of invitation links: create one, list all with their states, show once, reissue and revoke."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from accounts.rights import Capability, requires
from annotation.lead.page_context import CampaignView, campaign_context, campaign_for_lead, page_of
from annotation.lead.people.forms import InvitationForm, LinkFilter
from annotation.models import Invitation, InvitationLetter
from annotation.people import addresses, invitations, letters
from annotation.people.link_states import LinkState, counts, with_states
from web.form_page import Button, FormPage

LINKS_PER_PAGE = 25
TONES = {
    LinkState.USABLE: "active",
    LinkState.STARTED: "active",
    LinkState.WORKING: "active",
    LinkState.FINISHED: "good",
    LinkState.FAILED: "bad",
    LinkState.UNKNOWN: "warn",
    LinkState.WITHDRAWN: "bad",
    LinkState.EXCLUDED: "bad",
    LinkState.REVOKED: "bad",
}
SENDABLE = {
    LinkState.CREATED,
    LinkState.FAILED,
    LinkState.UNKNOWN,
    LinkState.SENT,
    LinkState.OPENED,
    LinkState.EXPIRED,
}
# Session key of a new link, until the page that shows it.
_MADE = "lead_invitation_made"


@dataclass(frozen=True)
class InvitationLine:
    """A link with how many people joined with it, how far they have come, and its letter."""

    invitation: Invitation
    address: str = ""  # shown only to leads; "" if there is none or it was erased

    @property
    def joined(self) -> int:
        return int(getattr(self.invitation, "joined"))  # noqa: B009 - annotated by `with_states`

    @property
    def state(self) -> LinkState:
        return LinkState(getattr(self.invitation, "link_state"))  # noqa: B009

    @property
    def tone(self) -> str:
        return TONES.get(self.state, "quiet")

    @property
    def personal(self) -> bool:
        return self.invitation.limit == 1

    @property
    def letter(self) -> InvitationLetter | None:
        return getattr(self.invitation, "letter", None)

    @property
    def expired(self) -> bool:
        moment = self.invitation.expires_at
        return moment is not None and moment <= timezone.now()

    @property
    def may_be_sent(self) -> bool:
        """Return whether the link can be mailed: nobody has joined by it yet."""
        return self.personal and self.state in SENDABLE


@requires(get=Capability.SEE_INVITATIONS, post=Capability.INVITE)
@method_decorator(never_cache, "dispatch")
class InvitationList(CampaignView, FormPage[InvitationForm]):
    """List the links with their states; leads create new ones here."""

    template_name = "annotation/lead/people/invitations.html"
    form_class = InvitationForm

    def call(self) -> HttpResponse:
        invitation, token = invitations.invite(campaign=self.campaign, by=self.by, **self.form.settings())
        return show_once(self.request, self.place(), invitation, token)

    def context(self) -> dict[str, Any]:
        context = super().context()
        links = with_states(self.campaign, invitations.shown_to_leads(self.campaign))
        state_counts = counts(links)
        filters = LinkFilter(self.request.GET)
        filters.offer(state_counts)
        chosen = filtered_links(links, filters, notes=context["may_change"])
        page = page_of(
            self.request,
            chosen.select_related("annotator", "created_by", "letter"),
            per_page=LINKS_PER_PAGE,
        )
        return context | {
            "page": page,
            "lines": [
                InvitationLine(link, _address(link) if context["may_change"] else "")
                for link in page.object_list
            ],
            "counts": state_counts,
            "total": sum(count.number for count in state_counts),
            "filters": filters,
            "filtered": any(filters.cleaned_data.values()) if filters.is_valid() else False,
            "to_send_again": letters.sendable_again(self.campaign, chosen).count()
            if context["may_change"]
            else 0,
        }


def filtered_links(links: QuerySet[Invitation], filters: LinkFilter, *, notes: bool) -> QuerySet[Invitation]:
    """Return the links that the filters ask for; notes are searched only for people who may read them."""
    if not filters.is_valid():
        return links
    if state := filters.cleaned_data["state"]:
        links = links.filter(Q(link_state=state))
    if notes and (note := filters.cleaned_data["q"]):
        links = links.filter(label__icontains=note)
    return links


def _address(link: Invitation) -> str:
    letter: InvitationLetter | None = getattr(link, "letter", None)
    return addresses.address_of(letter) if letter is not None else ""


@requires(get=Capability.INVITE)
@never_cache
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


@requires(post=Capability.INVITE)
class InvitationRevoke(InvitationButton):
    """Revoke a link. Annotators who joined with it stay."""

    def call(self) -> str:
        invitations.revoke(invitation=self.invitation, by=self.by)
        return f"The link “{self.invitation}” is revoked."


@requires(post=Capability.INVITE)
class InvitationReissue(InvitationButton):
    """Replace a lost link; annotators who used the old one stay the same."""

    def call(self) -> HttpResponse:
        fresh, token = invitations.reissue(invitation=self.invitation, by=self.by)
        return show_once(self.request, self.place(), fresh, token)


def show_once(
    request: HttpRequest, place: tuple[Any, ...], invitation: Invitation, token: str, *, back: str = ""
) -> HttpResponse:
    """Redirect to the page that shows the link once; it leads on to `back`, or to all links.

    `place` is the study and the campaign as used in addresses.
    """
    request.session[_MADE] = {
        "campaign": invitation.campaign_id,
        "invitation": invitation.pk,
        "address": request.build_absolute_uri(reverse("annotate:invitation", args=[token])),
        "back": back or reverse("annotation:invitations", args=place),
    }
    return redirect("annotation:invitation_made", *place)
