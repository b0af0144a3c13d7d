"""The annotators of Label Studio's users: leads decide, nothing is guessed."""

from collections.abc import Callable
from typing import Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from accounts.rights import Capability, requires
from annotation.label_studio.lead.forms import AnnotatorForm, InviteForm, PeopleFilter, chosen
from annotation.label_studio.lead.servers import ServerView, server_of
from annotation.label_studio.models import LabelStudioServer, LabelStudioUser
from annotation.label_studio.overview import queries as showing
from annotation.label_studio.people import identity
from annotation.lead.page_context import page_of, typed
from annotation.lead.people.invitations import show_once
from foundation.errors import DomainError
from web.form_page import Button, FormPage

# Nobody reads a longer list; a pseudonym that is not suggested can still be typed.
SUGGESTED = 200
_MOVES: dict[str, tuple[Callable[..., Any], str]] = {
    "ignore": (identity.ignore, "{} is left out. This user’s answers do not count."),
    "undo": (identity.undo, "The decision about {} is undone. This user’s answers do not count for now."),
    "erase": (
        identity.erase,
        "The user’s name is deleted from Stereoscope, and the user’s answers are left out.",
    ),
}


@requires(get=Capability.CONNECT)
def people_list(request: HttpRequest, study: str, server: int) -> HttpResponse:
    """All known users of the server; users waiting for a decision come first."""
    server_row = server_of(request, study, server)
    form = PeopleFilter(request.GET)
    state, name = chosen(form, "state"), typed(chosen(form, "q"))
    rows = showing.people(server_row)
    if state:
        rows = rows.filter(state=state)
    if name:
        rows = rows.filter(Q(name__icontains=name) | Q(annotator__pseudonym__icontains=name))
    page = page_of(request, rows)
    context = {
        "study": server_row.study,
        "may_change": True,
        "server": server_row,
        "form": form,
        "page": page,
        "lines": showing.person_lines(page.object_list),
        "filtered": bool(state or name),
        "waiting": showing.waiting_people(server_row).count(),
    }
    return render(request, "label_studio/people/list.html", context)


class UserView(ServerView):
    """A view of the Label Studio user in its address."""

    leads_to = "annotation:label_studio_people"
    user: LabelStudioUser

    def load(self) -> None:
        super().load()
        users = self.server.users.select_related("annotator", "invitation__campaign", "decided_by")
        self.user = get_object_or_404(users, pk=self.kwargs["user"])
        self.user.server = self.server


@requires(get=Capability.CONNECT, post=Capability.CONNECT)
class PersonPage(UserView, FormPage[AnnotatorForm]):
    """Decide who a user is: an annotator, a person to invite, or a person whose answers do not count."""

    template_name = "label_studio/people/detail.html"

    def make_form(self, data: Any) -> AnnotatorForm:
        return AnnotatorForm(data, pseudonyms=_pseudonyms(self.server))

    def call(self) -> str:
        annotator = showing.candidate(self.server, typed(self.form.cleaned_data["annotator"]))
        identity.confirm(user=self.user, annotator=annotator, by=self.by)
        return f"{showing.name_of(self.user)} is {annotator.pseudonym}; their answers are being read."

    def context(self) -> dict[str, Any]:
        invite = InviteForm(server=self.server)
        (line,) = showing.person_lines([self.user])
        return super().context() | {
            "who": self.user,
            "line": line,
            "title": "Who is this?",
            "states": [(showing.NAMES[state], n) for state, n in sorted(line.counts.items())],
            "invite": invite,
            "campaigns": list(invite.campaigns),
        }


@requires(post=Capability.CONNECT)
class PersonInviteButton(UserView, Button):
    """Make a personal link; the annotator who uses it is matched with this user."""

    leads_to = "annotation:label_studio_person"

    def place(self) -> tuple[Any, ...]:
        return (*super().place(), self.user.pk)

    def call(self) -> HttpResponse:
        form = InviteForm(self.request.POST, server=self.server)
        if not form.is_valid():
            raise DomainError(
                "campaign_missing", "Choose a campaign that is labelled in this Label Studio and not closed."
            )
        campaign = form.cleaned_data["campaign"]
        invitation, token = identity.invite(user=self.user, campaign=campaign, by=self.by)
        back = reverse("annotation:label_studio_people", args=super().place())
        return show_once(self.request, (self.study.slug, campaign.slug), invitation, token, back=back)


@requires(post=Capability.CONNECT)
class PersonDecide(UserView, Button):
    """Leave out a user, or undo the decision."""

    def call(self) -> str:
        verb, message = _MOVES[self.kwargs["move"]]
        verb(user=self.user, by=self.by)
        return message.format(showing.name_of(self.user))


def _pseudonyms(server: LabelStudioServer) -> tuple[str, ...]:
    free = showing.candidates(server).exclude(label_studio_users__server=server)
    return tuple(free.order_by("pseudonym").values_list("pseudonym", flat=True)[:SUGGESTED])
