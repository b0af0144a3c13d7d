"""Who the users of a Label Studio are here: said by a lead, never guessed."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.label_studio.lead.forms import AnnotatorForm, InviteForm, PeopleFilter, chosen
from annotation.label_studio.lead.servers import server_of
from annotation.label_studio.overview import queries as showing
from annotation.label_studio.people import identity
from annotation.lead.forms import show_refusal
from annotation.lead.page_context import page_of, person, typed
from annotation.lead.people.invitations import show_once
from annotation.models import LabelStudioServer, LabelStudioUser
from foundation.errors import DomainError

# More than anybody looks through; a pseudonym that is not suggested can be typed all the same.
SUGGESTED = 200
_MOVES: dict[str, tuple[Callable[..., Any], str]] = {
    "ignore": (identity.ignore, "{} is left out: none of their answers counts."),
    "undo": (identity.undo, "It is open again who {} is; their answers wait."),
    "erase": (identity.erase, "Their name is forgotten here, and their answers are left out."),
}


@login_required
@require_safe
def people_list(request: HttpRequest, study: str, server: int) -> HttpResponse:
    """Everybody who was seen working there, those who wait for a decision first."""
    found = server_of(request, study, server)
    form = PeopleFilter(request.GET)
    state, name = chosen(form, "state"), typed(chosen(form, "q"))
    rows = showing.people(found)
    if state:
        rows = rows.filter(state=state)
    if name:
        rows = rows.filter(Q(name__icontains=name) | Q(annotator__pseudonym__icontains=name))
    page = page_of(request, rows)
    context = _context(found) | {
        "form": form,
        "page": page,
        "lines": showing.person_lines(page.object_list),
        "filtered": bool(state or name),
        "waiting": showing.waiting_people(found).count(),
    }
    return render(request, "annotation/label_studio/people/list.html", context)


@login_required
@require_safe
def person_page(request: HttpRequest, study: str, server: int, user: int) -> HttpResponse:
    """Say who this is: an annotator, somebody to invite, or nobody whose answers count."""
    found = _user(request, study, server, user)
    return _page(request, found, AnnotatorForm(pseudonyms=_pseudonyms(found.server)))


@login_required
@require_POST
def person_confirm(request: HttpRequest, study: str, server: int, user: int) -> HttpResponse:
    """This user is that annotator."""
    found = _user(request, study, server, user)
    form = AnnotatorForm(request.POST, pseudonyms=_pseudonyms(found.server))
    if form.is_valid():
        pseudonym = typed(form.cleaned_data["annotator"])
        annotator = showing.candidates(found.server).filter(pseudonym__iexact=pseudonym).first()
        if annotator is None:
            form.add_error("annotator", "Nobody of this pseudonym has joined a campaign of this study.")
        else:
            try:
                identity.confirm(user=found, annotator=annotator, by=person(request))
            except DomainError as error:
                show_refusal(form, error)
            else:
                messages.success(
                    request, f"{showing.name_of(found)} is {annotator.pseudonym}; what waited is looked at."
                )
                return redirect("annotation:label_studio_people", study, server)
    return _page(request, found, form, status=400)


@login_required
@require_POST
def person_invite(request: HttpRequest, study: str, server: int, user: int) -> HttpResponse:
    """Make a personal link; whoever uses it is who this user is."""
    found = _user(request, study, server, user)
    form = InviteForm(request.POST, server=found.server)
    if not form.is_valid():
        messages.error(request, "Choose a campaign that is labelled there and not closed.")
        return redirect("annotation:label_studio_person", study, server, user)
    campaign = form.cleaned_data["campaign"]
    try:
        invitation, token = identity.invite(user=found, campaign=campaign, by=person(request))
    except DomainError as error:
        messages.error(request, error.message)
        return redirect("annotation:label_studio_person", study, server, user)
    back = reverse("annotation:label_studio_people", args=[study, server])
    return show_once(request, study, campaign.slug, invitation, token, back=back)


@login_required
@require_POST
def person_move(request: HttpRequest, study: str, server: int, user: int, move: str) -> HttpResponse:
    """Leave them out, or take back what was decided."""
    found = _user(request, study, server, user)
    verb, said = _MOVES[move]
    try:
        verb(user=found, by=person(request))
    except DomainError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, said.format(showing.name_of(found)))
    return redirect("annotation:label_studio_people", study, server)


def _user(request: HttpRequest, study: str, server: int, user: int) -> LabelStudioUser:
    owner = server_of(request, study, server)
    found = get_object_or_404(
        owner.users.select_related("annotator", "invitation__campaign", "decided_by"), pk=user
    )
    found.server = owner
    return found


def _pseudonyms(server: LabelStudioServer) -> tuple[str, ...]:
    free = showing.candidates(server).exclude(label_studio_users__server=server)
    return tuple(free.order_by("pseudonym").values_list("pseudonym", flat=True)[:SUGGESTED])


def _context(server: LabelStudioServer) -> dict[str, Any]:
    return {"study": server.study, "may_change": True, "server": server}


def _page(
    request: HttpRequest, user: LabelStudioUser, form: AnnotatorForm, *, status: int = 200
) -> HttpResponse:
    invite = InviteForm(server=user.server)
    (line,) = showing.person_lines([user])
    context = _context(user.server) | {
        "who": user,
        "line": line,
        "title": "Who is this?",
        "states": [(showing.NAMES[state], n) for state, n in sorted(line.counts.items())],
        "form": form,
        "invite": invite,
        "campaigns": list(invite.fields["campaign"].queryset),  # type: ignore[attr-defined]
    }
    return render(request, "annotation/label_studio/people/detail.html", context, status=status)
