"""Freeing the screens of people who left Prolific: when the event arrives, else by a worker within a second."""

import logging
from collections import defaultdict

from django.db import DatabaseError
from django.utils import timezone

from annotation.recruitment import places
from annotation.recruitment.models import PanelEvent, PanelPlace, Provider
from annotation.recruitment.prolific import webhooks
from annotation.recruitment.prolific.results import Status
from foundation.errors import DomainError

logger = logging.getLogger(__name__)

_BATCH = 500


def free_screens() -> None:
    """Free the screens of everybody who, according to an unread event, no longer works.

    Nothing else is done here, because somebody may have sent an old event again. The job that processes events asks
    Prolific and ends the place.
    """
    unread = PanelEvent.objects.filter(handled_at=None, read_at=None).select_related("provider")
    _free_screens(list(unread.order_by("pk")[:_BATCH]))


def free_screens_at_once(event: PanelEvent) -> None:
    """Free the screens of the person whom a new event is about, without waiting for a worker.

    The event is stored, so a failure here is only logged: workers read the event as well.
    """
    if event.handled_at is None and event.read_at is None:
        try:
            _free_screens([event])
        except DatabaseError as error:
            logger.warning("Event %s waits for a worker: %s", event.pk, type(error).__name__)


def _free_screens(events: list[PanelEvent]) -> None:
    if not events:
        return
    for provider, submissions in _left(events).items():
        for place in webhooks.places_of(provider, submissions).filter(state=PanelPlace.State.WORKING):
            places.free_screens(place)
    PanelEvent.objects.filter(pk__in=[event.pk for event in events]).update(read_at=timezone.now())


def _left(events: list[PanelEvent]) -> dict[Provider, list[str]]:
    """Return the submissions in which nobody works any longer, by panel."""
    left = defaultdict(list)
    for event in events:
        try:
            change = webhooks.change_of(event)
        except DomainError as error:
            logger.warning("Event %s could not be read: %s", event.pk, error.code)
            continue
        if change is not None and change.status in Status.ALL - Status.WORKING:
            left[event.provider].append(change.submission)
    return left
