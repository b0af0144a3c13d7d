"""Numbers of a campaign's pages: counted when they are shown, and of large campaigns now and then.

Every number is computed from the labels by one function, whatever the size. A campaign of at most `LARGE_SCREENS`
screens is counted at each request. A larger one is counted once for everybody who looks, and at most a
twentieth of the time: what is shown is at most twenty times as old as counting takes, and the page says of when
it is. Nobody waits for it: while one thread counts, pages show what there was before.
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
FORMAT = 1  # raised when the shape of a kept value changes
_YOUNGEST = timedelta(seconds=5)  # one poll of a page
_TIMES_AS_OLD = 20
# What takes no longer is counted by the request that finds it old, anything else beside it.
_AT_ONCE_SECONDS = 0.2
_CLAIM = timedelta(minutes=5)
_AFTER_A_FAILURE = timedelta(seconds=30)
_KEPT = timedelta(days=2)

# Of a process: what is counted must not slow down what is labelled.
_ONE_AT_A_TIME = threading.Lock()

# Returns what JSON can hold.
Count = Callable[[Campaign, str], Any]
_SUBJECTS: dict[str, Count] = {}


@dataclass(frozen=True)
class Snapshot:
    """What was counted, and when if that was not just now; `value` is None while it is counted for the first time."""

    value: Any
    counted_at: datetime | None = None

    @property
    def pending(self) -> bool:
        return self.value is None


def register(subject: str) -> Callable[[Count], Count]:
    """Name a function that counts something of a campaign; its text argument is part of what is kept."""

    def named(count: Count) -> Count:
        _SUBJECTS[subject] = count
        return count

    return named


def read(campaign: Campaign, subject: str, argument: str = "", *, wait: bool = False) -> Snapshot:
    """Return the numbers of `subject`; `wait` for those that were never counted."""
    if not is_large(campaign):
        return Snapshot(_SUBJECTS[subject](campaign, argument))
    kept, _ = CampaignSnapshot.objects.get_or_create(campaign=campaign, subject=subject, argument=argument)
    if kept.counted_at is not None and kept.format != FORMAT:
        CampaignSnapshot.objects.filter(pk=kept.pk).update(value=None, counted_at=None)
        kept.value = kept.counted_at = None
    if _fresh(kept):
        return Snapshot(kept.value, kept.counted_at)
    at_once = kept.counted_at is not None and kept.seconds <= _AT_ONCE_SECONDS
    if not _claimed(kept):
        if kept.value is None and wait:
            return Snapshot(_SUBJECTS[subject](campaign, argument))
        return Snapshot(kept.value, kept.counted_at)
    if at_once or (wait and kept.value is None):
        _count(kept)
    else:
        threading.Thread(
            target=_count_apart, args=(kept.pk,), name=f"snapshot-{kept.pk}", daemon=True
        ).start()
    return Snapshot(kept.value, kept.counted_at)


def is_large(campaign: Campaign) -> bool:
    """Return whether the campaign is counted now and then; one object is looked up once."""
    known: bool | None = vars(campaign).get("_is_large")
    if known is None:
        known = vars(campaign)["_is_large"] = campaign.pk in large([campaign.pk])
    return known


def large(campaigns: Iterable[int]) -> set[int]:
    """Return those of these campaigns that are not counted at each request: one query of a bounded read each."""
    wanted = list(campaigns)
    if not wanted:
        return set()
    # Of each no more of the index is read than it takes to know.
    beyond = Task.objects.filter(campaign=OuterRef("pk")).order_by("pk")[LARGE_SCREENS : LARGE_SCREENS + 1]
    return set(Campaign.objects.filter(Exists(beyond), pk__in=wanted).values_list("pk", flat=True))


def _fresh(kept: CampaignSnapshot) -> bool:
    if kept.counted_at is None:
        return False
    return timezone.now() - kept.counted_at <= max(_YOUNGEST, timedelta(seconds=_TIMES_AS_OLD * kept.seconds))


def _claimed(kept: CampaignSnapshot) -> bool:
    """Return whether it is now for the caller to count: of all who ask at once, one."""
    now = timezone.now()
    free = Q(claimed_until=None) | Q(claimed_until__lt=now)
    unchanged = CampaignSnapshot.objects.filter(free, pk=kept.pk, counted_at=kept.counted_at)
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


def _count(kept: CampaignSnapshot) -> None:
    began, start = timezone.now(), time.perf_counter()
    kept.value = _SUBJECTS[kept.subject](kept.campaign, kept.argument)
    kept.counted_at, kept.seconds, kept.claimed_until = began, time.perf_counter() - start, None
    # Not `save`: if the campaign is gone, so is this.
    CampaignSnapshot.objects.filter(pk=kept.pk).update(
        value=kept.value, format=FORMAT, counted_at=began, seconds=kept.seconds, claimed_until=None
    )
    CampaignSnapshot.objects.filter(campaign=kept.campaign_id, counted_at__lt=began - _KEPT).delete()
