"""Numbers of a campaign's pages: counted at each request, or cached for large campaigns.

Every number is computed from the labels by one function. A campaign of at most `LARGE_SCREENS` screens is counted at
each request. A larger one is counted for all requests together, for at most a twentieth of the time: a number is at
most twenty times as old as counting takes, and the page shows when it was counted. No request waits: while one thread
counts, pages show the previous numbers.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from annotation.models import Campaign, CampaignSnapshot, Task

logger = logging.getLogger(__name__)

LARGE_SCREENS = 5_000
FORMAT = 2  # raised when the shape of a kept value changes
_YOUNGEST = timedelta(seconds=5)  # one poll of a page
_TIMES_AS_OLD = 20
# Fast counts run in the request that needs them, slow ones in a thread.
_AT_ONCE_SECONDS = 0.2
_CLAIM = timedelta(minutes=5)
_AFTER_A_FAILURE = timedelta(seconds=30)
_KEPT = timedelta(days=2)

# One count at a time in each process, so that counting does not slow down labelling.
_ONE_AT_A_TIME = threading.Lock()

# Returns JSON data.
Count = Callable[[Campaign, str], Any]
_SUBJECTS: dict[str, Count] = {}


@dataclass(frozen=True)
class Snapshot:
    """A counted value, and when it was counted if not just now; None while it is first counted."""

    value: Any
    counted_at: datetime | None = None

    @property
    def pending(self) -> bool:
        return self.value is None


def register(subject: str) -> Callable[[Count], Count]:
    """Register a counting function under a name; its text argument is part of the cache key."""

    def add(count: Count) -> Count:
        _SUBJECTS[subject] = count
        return count

    return add


def read(campaign: Campaign, subject: str, argument: str = "", *, wait: bool = False) -> Snapshot:
    """Return the numbers of `subject`; with `wait` also those that were never counted."""
    if not is_large(campaign):
        return Snapshot(_SUBJECTS[subject](campaign, argument))
    snapshot, _ = CampaignSnapshot.objects.get_or_create(
        campaign=campaign, subject=subject, argument=argument
    )
    if snapshot.counted_at is not None and snapshot.format != FORMAT:
        CampaignSnapshot.objects.filter(pk=snapshot.pk).update(value=None, counted_at=None)
        snapshot.value = snapshot.counted_at = None
    if _fresh(snapshot):
        return Snapshot(snapshot.value, snapshot.counted_at)
    at_once = snapshot.counted_at is not None and snapshot.seconds <= _AT_ONCE_SECONDS
    if not _claimed(snapshot):
        if snapshot.value is None and wait:
            return Snapshot(_SUBJECTS[subject](campaign, argument))
        return Snapshot(snapshot.value, snapshot.counted_at)
    if at_once or (wait and snapshot.value is None):
        _count(snapshot)
    else:
        threading.Thread(
            target=_count_apart, args=(snapshot.pk,), name=f"snapshot-{snapshot.pk}", daemon=True
        ).start()
    return Snapshot(snapshot.value, snapshot.counted_at)


def is_large(campaign: Campaign) -> bool:
    """Return whether the campaign's numbers are cached; each object is checked once."""
    is_known_large: bool | None = vars(campaign).get("_is_large")
    if is_known_large is None:
        is_known_large = vars(campaign)["_is_large"] = campaign.pk in large([campaign.pk])
    return is_known_large


def large(campaigns: Iterable[int]) -> set[int]:
    """Return the large campaigns among these, with one limited query for each."""
    campaign_ids = list(campaigns)
    if not campaign_ids:
        return set()
    # Reads the index only up to the limit.
    beyond = Task.objects.filter(campaign=OuterRef("pk")).order_by("pk")[LARGE_SCREENS : LARGE_SCREENS + 1]
    return set(Campaign.objects.filter(Exists(beyond), pk__in=campaign_ids).values_list("pk", flat=True))


def _fresh(snapshot: CampaignSnapshot) -> bool:
    if snapshot.counted_at is None:
        return False
    return timezone.now() - snapshot.counted_at <= max(
        _YOUNGEST, timedelta(seconds=_TIMES_AS_OLD * snapshot.seconds)
    )


def _claimed(snapshot: CampaignSnapshot) -> bool:
    """Return whether, among all concurrent requests, the caller should count."""
    now = timezone.now()
    free = Q(claimed_until=None) | Q(claimed_until__lt=now)
    unchanged = CampaignSnapshot.objects.filter(free, pk=snapshot.pk, counted_at=snapshot.counted_at)
    return bool(unchanged.update(claimed_until=now + _CLAIM))


def _count_apart(pk: int) -> None:
    try:
        with _ONE_AT_A_TIME:
            _count(CampaignSnapshot.objects.select_related("campaign__study").get(pk=pk))
    except Exception:
        logger.exception("Snapshot %s could not be counted", pk)
        CampaignSnapshot.objects.filter(pk=pk).update(claimed_until=timezone.now() + _AFTER_A_FAILURE)
    finally:
        connection.close()


def _count(snapshot: CampaignSnapshot) -> None:
    began, start = timezone.now(), time.perf_counter()
    snapshot.value = _SUBJECTS[snapshot.subject](snapshot.campaign, snapshot.argument)
    snapshot.counted_at, snapshot.seconds, snapshot.claimed_until = began, time.perf_counter() - start, None
    # Not `save`, which would fail if the campaign was deleted.
    CampaignSnapshot.objects.filter(pk=snapshot.pk).update(
        value=snapshot.value, format=FORMAT, counted_at=began, seconds=snapshot.seconds, claimed_until=None
    )
    CampaignSnapshot.objects.filter(campaign=snapshot.campaign_id, counted_at__lt=began - _KEPT).delete()
