"""Freeing the screens of people who left at Prolific within a second, independently of workers' jobs."""

import logging
from collections import defaultdict

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
    events = list(unread.order_by("pk")[:_BATCH])
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
