"""Erasing the data that panels sent about a person. Paid amounts are kept without the person."""

import base64

from accounts.models import Annotator
from annotation.recruitment.models import PanelEvent, PanelPayment, PanelPerson, PanelPlace
from annotation.recruitment.payments import review
from annotation.recruitment.prolific import access
from foundation.errors import Conflict
from privacy.erasure.names import ERASED, PersonNames
from privacy.inventory import blank


def refuse(annotator: Annotator) -> None:
    """Raise Conflict while the person has a place that has not ended or is not settled."""
    places = PanelPlace.objects.filter(person__annotator=annotator)
    working = places.filter(state=PanelPlace.State.WORKING).exists()
    # Without the ids of the place, which an erasure removes, the panel cannot be told to pay.
    undecided = review.not_decided(places).exists()
    unpaid = PanelPayment.objects.filter(place__in=places, settled_at=None).exists()
    if working or undecided or unpaid:
        raise Conflict(
            "erasure_before_payment",
            "A panel still has to pay this person. Erase this person after all their places in recruitments "
            "have ended and have been paid or rejected.",
        )


def forget(annotator: Annotator, names: PersonNames) -> None:
    """Delete the person's ids and messages, and remove the person from places and payments."""
    people = PanelPerson.objects.filter(annotator=annotator)
    for provider in people.values_list("provider", flat=True):
        for event in PanelEvent.objects.filter(provider=provider):
            body = base64.b64decode(access.unseal(event.body_sealed)).decode("utf-8", "replace")
            if names.are_in(body):
                event.delete()
    places = list(PanelPlace.objects.filter(person__in=people).values_list("pk", flat=True))
    rows = PanelPlace.objects.filter(pk__in=places)
    rows.exclude(reason="").update(reason=ERASED)
    rows.update(**blank("recruitment.PanelPlace"))
    PanelPayment.objects.filter(place__in=places).exclude(problem="").update(problem=ERASED)
    people.delete()
