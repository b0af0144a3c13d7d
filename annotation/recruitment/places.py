"""The end of a place: it ends when its work does, and its person then begins no further screen."""

from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation.assignment import leases, slots
from annotation.models import Campaign, Enrolment
from annotation.recruitment.cost import Money
from annotation.recruitment.models import PanelPlace, Recruitment

State = PanelPlace.State


@transaction.atomic
def end(*, place: PanelPlace, state: str) -> PanelPlace:
    """End a place in `state`; a place that has ended does not change.

    The person's leased screens are free for others at once. The person’s answers stay.
    """
    recruitment = Recruitment.objects.select_for_update().get(pk=place.recruitment_id)
    if place.enrolment is not None:
        # Like every decision about an annotator: an answer that is being saved is counted, and none follows.
        leases.lock_for_decisions([place.enrolment])
    place = PanelPlace.objects.select_related("enrolment__campaign", "enrolment__annotator").get(pk=place.pk)
    if place.state != State.WORKING:
        return place
    if (enrolment := place.enrolment) is not None:
        _release(enrolment)
        answered = leases.answered(enrolment.campaign_id, enrolment.annotator_id)
        Enrolment.objects.filter(pk=enrolment.pk).update(most_screens=answered)
        place.answered = max(0, answered - place.answered_before)
    place.state, place.ended_at = State(state), timezone.now()
    place.save(update_fields=["state", "ended_at", "answered"])
    if state not in PanelPlace.HELD:
        Recruitment.objects.filter(pk=recruitment.pk).update(held=F("held") - 1)
    return place


@transaction.atomic
def free_screens(place: PanelPlace) -> None:
    """Free the leased screens of a place's person for others; the place does not change."""
    if place.enrolment is not None:
        leases.lock_for_decisions([place.enrolment])
        _release(place.enrolment)


def _release(enrolment: Enrolment) -> None:
    slots.lock_held(enrolment.annotator_id, [enrolment.campaign_id])
    leases.release(annotator=enrolment.annotator, campaign=enrolment.campaign)


def answered_in(place: PanelPlace) -> int:
    """Return how many screens were answered in a place so far."""
    if place.state != State.WORKING or place.enrolment is None:
        return place.answered
    answered = leases.answered(place.enrolment.campaign_id, place.enrolment.annotator_id)
    return max(0, answered - place.answered_before)


def shown_place(enrolment: Enrolment) -> dict[str, Any] | None:
    """Return the pay of the place in which somebody works, and the number of their earlier answers; None without
    one."""
    places = enrolment.panel_places.filter(state=State.WORKING).select_related("recruitment")
    place = places.order_by("-pk").first()
    if place is None:
        return None
    reward = Money(place.recruitment.reward, place.recruitment.currency)
    return {"before": place.answered_before, "reward": str(reward.amount), "currency": reward.currency}


def ended_by_itself(place: PanelPlace, standing: str) -> str:
    """Return the state in which a place ends now, given its person's progress; "" while there is work for them.

    Everybody for whom nothing is left, whatever the reason, has completed the place if they answered anything.
    """
    if standing in {"ready", Campaign.State.PAUSED}:
        return ""
    return State.COMPLETED if answered_in(place) else State.SCREENED_OUT
