"""Pages of personal links: create many, send them by e-mail, send a letter again."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from accounts.rights import Capability, requires
from annotation.lead.page_context import CampaignView
from annotation.lead.people.forms import AddressForm, LetterForm, LinkFilter, PersonalLinksForm
from annotation.lead.people.invitations import filtered_links
from annotation.models import Invitation
from annotation.people import addresses, invitations, letters
from annotation.people.letters import LetterText
from annotation.people.link_states import counts, with_states
from web.form_page import Confirmation, FormPage


@dataclass(frozen=True)
class NewLink:
    """A link while it is shown, this once."""

    note: str
    mail_to: str
    address: str

    @property
    def line(self) -> str:
        return f"{self.note or self.mail_to}\t{self.address}"


def letter_text(request: HttpRequest, form: LetterForm) -> LetterText:
    return LetterText(
        link_of=lambda token: request.build_absolute_uri(reverse("annotate:invitation", args=[token])),
        **form.text(),
    )


@requires(get=Capability.INVITE, post=Capability.INVITE)
@method_decorator(never_cache, "dispatch")
class PersonalLinks(CampaignView, FormPage[PersonalLinksForm]):
    """Create a personal link for each person, mail those that have an address, and show all of them this once."""

    template_name = "annotation/lead/people/personal_links.html"
    form_class = PersonalLinksForm

    def call(self) -> HttpResponse:
        text = letter_text(self.request, self.form)
        settings = self.form.settings()
        made = letters.invite_people(campaign=self.campaign, by=self.by, text=text, **settings)
        links = [
            NewLink(invitation.label, recipient.address, text.link_of(token))
            for (invitation, token), recipient in zip(made, settings["recipients"], strict=True)
        ]
        # Shown in the answer itself: no session keeps hundreds of links that sign people in.
        shown = {
            "links": links,
            "as_text": "\n".join(link.line for link in links),
            "mailed": sum(bool(link.mail_to) for link in links),
        }
        return render(self.request, self.template_name, self.context() | shown)

    def context(self) -> dict[str, Any]:
        return super().context() | {"can_send": letters.can_send()}


@requires(get=Capability.INVITE, post=Capability.INVITE)
@method_decorator(never_cache, "dispatch")
class LetterSend(CampaignView, FormPage[AddressForm]):
    """Send one personal link by e-mail, for the first time or again, to the same address or another."""

    template_name = "annotation/lead/people/letter.html"
    form_class = AddressForm
    leads_to = "annotation:invitations"

    def load(self) -> None:
        super().load()
        links = self.campaign.invitations.select_related("letter__mailing", "annotator")
        self.invitation = get_object_or_404(links, pk=self.kwargs["invitation"], limit=1)
        self.invitation.campaign = self.campaign
        self.letter = getattr(self.invitation, "letter", None)

    def make_form(self, data: Any) -> AddressForm:
        initial = {}
        if self.letter is not None:
            mailing = self.letter.mailing
            initial = {"language": mailing.language, "message": mailing.message}
            initial["address"] = addresses.address_of(self.letter)
        return AddressForm(data, initial=initial)

    def call(self) -> str:
        letters.send_to(
            invitation=self.invitation,
            address=self.form.cleaned_data["address"],
            text=letter_text(self.request, self.form),
            by=self.by,
        )
        return "The e-mail is being sent."

    def context(self) -> dict[str, Any]:
        return super().context() | {
            "invitation": self.invitation,
            "letter": self.letter,
            "can_send": letters.can_send(),
            "replaces": self.letter is None or not self.letter.link_sealed,
        }


@requires(get=Capability.INVITE, post=Capability.INVITE)
class LettersSendAgain(CampaignView, Confirmation):
    """Send again the letters of all links that a filter shows and with which nobody has joined."""

    template_name = "annotation/lead/people/letters_again.html"
    leads_to = "annotation:invitations"

    def load(self) -> None:
        super().load()
        links = with_states(self.campaign, invitations.shown_to_leads(self.campaign))
        self.filters = LinkFilter(self.request.GET)
        self.filters.offer(counts(links))
        self.links: QuerySet[Invitation] = filtered_links(links, self.filters, notes=True)

    def call(self) -> str:
        number = letters.send_again(campaign=self.campaign, links=self.links, by=self.by)
        return "1 e-mail is being sent again." if number == 1 else f"{number:,} e-mails are being sent again."

    def context(self) -> dict[str, Any]:
        return super().context() | {
            "number": letters.sendable_again(self.campaign, self.links).count(),
            "filters": self.filters,
            "can_send": letters.can_send(),
        }
