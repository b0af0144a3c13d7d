"""Pages between a panel's link and the first screen, and from the last screen back to the panel."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.request import UnreadablePostError
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from accounts.models import User
from accounts.rights import Capability, requires
from accounts.sign_in.devices import device_of
from accounts.sign_in.limits import sign_in_by_link
from annotation.annotator.access import consent_text, step_before_work
from annotation.annotator.onboarding import fingerprint
from annotation.annotator.progress import standing
from annotation.answers.languages import offered, read_as
from annotation.models import Enrolment
from annotation.recruitment import background, identities, places
from annotation.recruitment.cost import Money
from annotation.recruitment.models import PanelPlace, Recruitment
from annotation.recruitment.panel import arrival
from annotation.recruitment.prolific import arrival as prolific
from annotation.recruitment.prolific import freed_screens, webhooks
from foundation.errors import DomainError, NotFound
from studies import consent

State = PanelPlace.State
View = Callable[..., HttpResponse]


def page_of(enrolment: Enrolment) -> str | None:
    """Return the page on which the work of an enrolment ends; None unless a panel sent its annotator."""
    place = enrolment.panel_places.select_related("recruitment").order_by("-pk").first()
    return None if place is None else reverse("panel:end", args=[place.recruitment.public_id])


@requires(get=Capability.ANYONE, head=False)
@never_cache
def arrive(request: HttpRequest, recruitment: UUID) -> HttpResponse:
    """Give who comes a place, and lead at once to an address without the ids of the link."""
    try:
        found = arrival.find(str(recruitment))
        link = _link(request, found)
        user = request.user if isinstance(request.user, User) else None
        place = arrival.arrive(
            recruitment=found,
            link=link,
            user=user,
            fingerprint=fingerprint(request),
            device=device_of(request).number,
        )
    except DomainError as error:
        request.session["panel_refusal"] = error.code
        return _see_other(reverse("panel:refused", args=[recruitment]))
    if place.enrolment is not None and (person := place.enrolment.annotator.user) not in {None, user}:
        sign_in_by_link(request=request, user=person)
    page = "panel:welcome" if place.state == State.WORKING else "panel:end"
    return _see_other(reverse(page, args=[found.public_id]))


def _link(request: HttpRequest, recruitment: Recruitment) -> arrival.PanelLink:
    provider = recruitment.provider
    if provider.signs_links:
        token = request.GET.get(prolific.TOKEN_PARAMETER, "")
        person, place = prolific.signed_ids(recruitment, token)
        return arrival.PanelLink(identities.check(person), identities.check(place), signed=True)
    person = identities.check(request.GET.get(provider.person_parameter, ""))
    if not provider.place_parameter:
        return arrival.PanelLink(person, person)
    return arrival.PanelLink(person, identities.check(request.GET.get(provider.place_parameter, "")))


def _see_other(address: str) -> HttpResponse:
    response = HttpResponseRedirect(address)
    response.status_code = 303
    return response


@requires(get=Capability.ANYONE)
@never_cache
def refused(request: HttpRequest, **_address: UUID) -> HttpResponse:
    """Explain why nobody can begin by this link, and what happens to the place at the panel."""
    code = request.session.get("panel_refusal", "panel_id_missing")
    status = 404 if code == "recruitment_not_found" else 409
    return render(request, "recruitment/panel/refused.html", {"code": code}, status=status)


def own_place(view: View) -> View:
    """Give a view the person's latest place in the recruitment; NotFound for others."""

    @wraps(view)
    def viewed(request: HttpRequest, recruitment: UUID) -> HttpResponse:
        place = (
            PanelPlace.objects.select_related(
                "recruitment__provider",
                "enrolment__annotator",
                "enrolment__campaign__study__consent_text",
                "person",
            )
            .filter(
                recruitment__public_id=recruitment,
                enrolment__annotator__user=request.user.pk,
                enrolment__annotator__user__isnull=False,
            )
            .order_by("-pk")
            .first()
        )
        if place is None or place.enrolment is None:
            raise NotFound(
                "panel_place_not_found",
                gettext("Go back to the website that sent you here, and open the link again."),
            )
        return view(request, place, read_as(place.enrolment))

    return viewed


@requires(get=Capability.ANYONE)
@never_cache
@own_place
def welcome(request: HttpRequest, place: PanelPlace, enrolment: Enrolment) -> HttpResponse:
    """Explain the work and its pay, before anything else."""
    if place.state != State.WORKING:
        return redirect("panel:end", place.recruitment.public_id)
    context = _context(place) | {
        "text": consent_text(enrolment.campaign),
        "offered": offered(enrolment.campaign) if enrolment.language is None else (),
        "onward": step_before_work(enrolment) or reverse("annotate:task", args=[enrolment.campaign_id]),
    }
    return render(request, "recruitment/panel/welcome.html", context)


@requires(get=Capability.ANYONE)
@never_cache
@own_place
def end(request: HttpRequest, place: PanelPlace, enrolment: Enrolment) -> HttpResponse:
    """Show a person's state: work is left, or their code and the way back to the panel."""
    consented = consent.has_consented(enrolment.annotator, enrolment.campaign.study)
    now = ""
    if place.state == State.WORKING and consented:
        now = standing(enrolment).state
        if state := places.ended_by_itself(place, now):
            place = places.end(place=place, state=state)
    context = _context(place) | {
        "campaign_id": enrolment.campaign_id,
        "consented": consented,
        "standing": now,
        "answered": places.answered_in(place),
    }
    return render(request, "recruitment/panel/end.html", context)


@requires(post=Capability.ANYONE)
@never_cache
@own_place
def stop(_request: HttpRequest, place: PanelPlace, enrolment: Enrolment) -> HttpResponse:
    """End the person's own place early: without taking part, or after some screens."""
    if place.state == State.WORKING:
        paused = standing(enrolment).state == "paused"
        answered = places.answered_in(place)
        early = State.COMPLETED if paused and answered else State.LEFT if answered else State.DECLINED
        if paused and not answered:
            early = State.SCREENED_OUT  # there was nothing for them to do, for which we are responsible
        places.end(place=place, state=early)
    return redirect("panel:end", place.recruitment.public_id)


@requires(get=Capability.ANYONE)
@never_cache
@own_place
def return_to_panel(_request: HttpRequest, place: PanelPlace, _enrolment: Enrolment) -> HttpResponse:
    """Lead back to the panel with the code of how the place ended, once all of it is stored."""
    address = _completion_address(place)
    return _see_other(address or reverse("panel:end", args=[place.recruitment.public_id]))


def _completion_address(place: PanelPlace) -> str:
    """Return the address that takes a person back to the panel; "" if there is none, or work is left."""
    code, address = _code(place), place.recruitment.provider.completion_address
    if not code or not address:
        return ""
    for name, sealed in (
        ("{person}", place.person.id_sealed if place.person else ""),
        ("{place}", place.submission_sealed),
    ):
        if name in address:
            if not sealed:
                return ""  # erased
            address = address.replace(name, quote(identities.unseal(sealed), safe=""))
    return address.replace("{code}", quote(code, safe=""))


def _code(place: PanelPlace) -> str:
    recruitment = place.recruitment
    return {
        State.COMPLETED: recruitment.completed_code,
        State.SCREENED_OUT: recruitment.screened_out_code,
        State.DECLINED: recruitment.declined_code,
        State.LEFT: recruitment.declined_code,
    }.get(State(place.state), "")


def _context(place: PanelPlace) -> dict[str, Any]:
    recruitment = place.recruitment
    return {
        "place": place,
        "recruitment": recruitment,
        "reward": Money(recruitment.reward, recruitment.currency),
        "code": _code(place),
        "has_way_back": bool(_completion_address(place)),
    }


@requires(post=Capability.BY_KEY)
@csrf_exempt
@never_cache
def events(request: HttpRequest, panel: UUID) -> HttpResponse:
    """Store an event from a panel's API, and queue its processing; 204 confirms that it is stored."""
    try:
        if int(request.headers.get("Content-Length") or 0) > webhooks.MAX_BYTES:
            return HttpResponse(status=413)
        body = request.body
    except (ValueError, UnreadablePostError, RequestDataTooBig):
        return HttpResponse(status=400)
    try:
        event = webhooks.receive(events_id=panel, headers=request.headers, body=body)
    except DomainError as error:
        return HttpResponse(status=error.status)
    if event.handled_at is None:
        background.wake(event.provider)
        freed_screens.free_screens_at_once(event)
    return HttpResponse(status=204)
