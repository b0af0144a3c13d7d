"""Arrivals by a panel's link: the person gets a place, or continues in the one they have."""

from contextlib import suppress
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import F

from accounts.models import User
from annotation.assignment import leases
from annotation.models import Campaign, Enrolment
from annotation.people import doubles, invitations
from annotation.recruitment import identities, places
from annotation.recruitment.models import PanelPerson, PanelPlace, Recruitment
from annotation.recruitment.prolific import arrival as prolific
from annotation.recruitment.prolific import reconcile
from annotation.recruitment.prolific.connection import SHORT
from annotation.recruitment.prolific.errors import ProlificError
from foundation.errors import Conflict, Forbidden, NotFound


@dataclass(frozen=True)
class PanelLink:
    """The person and place in a panel's link. `signed`: the panel's signature confirms them."""

    person: str = field(repr=False)
    submission: str = field(repr=False)
    signed: bool = False


def find(public_id: str) -> Recruitment:
    """Return the recruitment that a link names."""
    recruitment = (
        Recruitment.objects.select_related("campaign__study", "provider").filter(public_id=public_id).first()
    )
    if recruitment is None:
        raise NotFound("recruitment_not_found", "This link is not valid. Ask the website that sent you here.")
    return recruitment


def arrive(
    *, recruitment: Recruitment, link: PanelLink, user: User | None, fingerprint: str = "", device: str = ""
) -> PanelPlace:
    """Return the place of who comes; the same link again returns the same place.

    The caller signs in the annotator of the place's enrolment. Raises Forbidden `panel_signed_in`, and Conflict
    `recruitment_not_open`, `recruitment_full` or `panel_person_was_here`; for a panel with an API, also
    `panel_not_confirmed` and `panel_unreachable`.
    """
    if user is not None and invitations.has_a_role(user):
        raise Forbidden(
            "panel_signed_in", "You are signed in with a password. Sign out first, or use a private window."
        )
    if known_place := _known_place(recruitment, link):
        return known_place
    verified = _verify(recruitment, link)
    _end_earlier(recruitment, link)
    with transaction.atomic():
        # Places are assigned one after the other, so that none is assigned twice.
        recruitment = Recruitment.objects.select_for_update().get(pk=recruitment.pk)
        if known_place := _known_place(recruitment, link):
            return known_place
        _refuse_newcomer(recruitment)
        person = identities.person_of(recruitment.provider, link.person)
        person = person or _newcomer(recruitment, link.person)
        _refuse_returner(recruitment, person)
        enrolment = _enrol(recruitment.campaign, person, doubles.prints(fingerprint, device))
        return _give(recruitment, person, enrolment, link.submission, verified)


def _known_place(recruitment: Recruitment, link: PanelLink) -> PanelPlace | None:
    known = PanelPlace.objects.select_related("enrolment__annotator__user", "person")
    place = known.filter(
        recruitment=recruitment, submission_hash__in=identities.hashes(link.submission)
    ).first()
    if place is not None and (
        place.enrolment is None
        or place.person is None
        or place.person.id_hash not in identities.hashes(link.person)
    ):
        raise Conflict("panel_place_of_another", "This place belongs to somebody else.")
    return place


def _verify(recruitment: Recruitment, link: PanelLink) -> str:
    """Return how the panel confirmed that the person has the place; "" for a panel that cannot be asked."""
    if not recruitment.provider.has_api:
        return ""
    if recruitment.held >= recruitment.places:
        # The panel may have reassigned a place whose return it has not reported yet.
        with suppress(ProlificError):
            reconcile.compare(recruitment, patience=SHORT)
        recruitment.refresh_from_db(fields=["held"])
    _refuse_newcomer(recruitment)
    if link.signed:
        return PanelPlace.Verified.SIGNED
    return prolific.confirm(recruitment, person=link.person, submission=link.submission)


def _end_earlier(recruitment: Recruitment, link: PanelLink) -> None:
    """End the person's work in another place of the campaign: nobody works in two at a time.

    Somebody who is refused here keeps the other place. In a separate transaction, which locks the other recruitment
    and not this one.
    """
    person = identities.person_of(recruitment.provider, link.person)
    if person is None or _known_place(recruitment, link):
        return
    begun = person.places.filter(
        recruitment__campaign=recruitment.campaign_id, state=PanelPlace.State.WORKING
    )
    _refuse_newcomer(recruitment, given_back=begun.filter(recruitment=recruitment).count())
    _refuse_returner(recruitment, person)
    for place in begun.select_related("enrolment__campaign"):
        places.end(place=place, state=PanelPlace.State.LEFT)


def _refuse_newcomer(recruitment: Recruitment, *, given_back: int = 0) -> None:
    """Raise Conflict if nobody can begin. `given_back`: the places that the person would give back for a new one."""
    open_now = recruitment.state == Recruitment.State.OPEN
    if not open_now or recruitment.campaign.state != Campaign.State.OPEN:
        raise Conflict("recruitment_not_open", "Nobody can begin here at the moment.")
    if recruitment.held - given_back >= recruitment.places:
        raise Conflict("recruitment_full", "Other people took all places before you.")


def _refuse_returner(recruitment: Recruitment, person: PanelPerson) -> None:
    if person.places.filter(recruitment=recruitment, state=PanelPlace.State.COMPLETED).exists():
        raise Conflict("panel_person_was_here", "You have already taken part in this work.")


def _newcomer(recruitment: Recruitment, person_id: str) -> PanelPerson:
    return PanelPerson.objects.create(
        provider=recruitment.provider,
        annotator=invitations.new_annotator(),
        id_hash=identities.hashes(person_id)[0],
        id_sealed=identities.seal(person_id),
    )


def _enrol(campaign: Campaign, person: PanelPerson, prints: dict[str, str]) -> Enrolment:
    enrolment, _ = Enrolment.objects.get_or_create(
        campaign=campaign,
        annotator=person.annotator,
        defaults={**prints, "most_screens": 0},
    )
    return enrolment


def _give(
    recruitment: Recruitment, person: PanelPerson, enrolment: Enrolment, submission: str, verified: str
) -> PanelPlace:
    answered = leases.answered(enrolment.campaign_id, enrolment.annotator_id)
    Enrolment.objects.filter(pk=enrolment.pk).update(most_screens=answered + recruitment.screens)
    Recruitment.objects.filter(pk=recruitment.pk).update(held=F("held") + 1)
    return PanelPlace.objects.create(
        recruitment=recruitment,
        person=person,
        enrolment=enrolment,
        submission_hash=identities.hashes(submission)[0],
        submission_sealed=identities.seal(submission),
        answered_before=answered,
        verified=verified,
    )
