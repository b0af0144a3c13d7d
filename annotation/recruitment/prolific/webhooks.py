"""Events from Prolific: checked, stored, and only then acknowledged; a job processes them.

An event's signature covers its time and body, but not its id or the time of the change. So an event only tells us what
to check, and Prolific is asked for the status; if it does not answer, the signed status counts.
"""

import base64
import hashlib
import hmac
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.recruitment import identities
from annotation.recruitment.models import PanelEvent, PanelPlace, Provider, Recruitment
from annotation.recruitment.prolific import access, reconcile
from annotation.recruitment.prolific.errors import ProlificError
from foundation.errors import DomainError, Forbidden, NotFound

MAX_BYTES = 64 * 1024
_OLDEST = timedelta(hours=25)  # Prolific tries for 24
_AHEAD = timedelta(minutes=5)  # by which its clock may be ahead of ours
_KEPT = timedelta(days=14)
_BATCH = 500


@dataclass(frozen=True)
class SubmissionChange:
    """The contents of an event: a submission and its new status."""

    submission: str
    status: str


def receive(*, events_id: UUID, headers: Mapping[str, str], body: bytes) -> PanelEvent:
    """Store an event; return an event that was already stored unchanged.

    Raises NotFound, or Forbidden if it is not signed with the workspace's secret, or is too old.
    """
    provider = Provider.objects.filter(events_id=events_id).exclude(secret_sealed="").first()
    if provider is None:
        raise NotFound("panel_not_found", "No panel sends events to this address.")
    signed_at = _moment(headers.get("X-Prolific-Request-Timestamp", ""))
    _check_signature(provider, headers, body)
    now = timezone.now()
    if not now - _OLDEST <= signed_at <= now + _AHEAD:
        raise Forbidden("event_too_old", "The event is older than a day or dated in the future.")
    event_id = headers.get("X-Event-ID", "")
    if not event_id or len(event_id) > 100 or not event_id.isprintable():
        raise DomainError("event_without_id", "The event has no id.")
    if provider.unsigned_at is not None:
        Provider.objects.filter(pk=provider.pk).update(unsigned_at=None)
    happened = headers.get("X-Timestamp", "")
    values = {
        "body_sealed": access.seal(base64.b64encode(body).decode()),
        "happened_at": _moment(happened) if happened else signed_at,
        "signed_at": signed_at,
    }
    try:
        with transaction.atomic():
            event, _ = PanelEvent.objects.get_or_create(provider=provider, event_id=event_id, defaults=values)
    except IntegrityError:
        event = PanelEvent.objects.get(provider=provider, event_id=event_id)
    return event


def _check_signature(provider: Provider, headers: Mapping[str, str], body: bytes) -> None:
    secret = access.unseal(provider.secret_sealed)
    message = headers.get("X-Prolific-Request-Timestamp", "").encode() + body
    right = base64.b64encode(hmac.new(secret.encode(), message, hashlib.sha256).digest())
    sent = headers.get("X-Prolific-Request-Signature", "").encode()
    if not hmac.compare_digest(right, sent):
        Provider.objects.filter(pk=provider.pk).update(unsigned_at=timezone.now())
        raise Forbidden("event_unsigned", "The event is not signed with the secret of the workspace.")


def _moment(header: str) -> datetime:
    try:
        return datetime.fromtimestamp(float(header), UTC)
    except (ValueError, OverflowError, OSError):
        raise DomainError("event_without_time", "The event does not say when it was sent.") from None


def handle(provider: Provider) -> int:
    """Process unprocessed events in the order of the changes; return their number."""
    events = list(provider.events.filter(handled_at=None).order_by("happened_at", "pk")[:_BATCH])
    # Of each submission the latest word counts; the order among submissions does not matter.
    latest: dict[str, tuple[PanelEvent, SubmissionChange]] = {}
    keys: dict[str, list[int]] = defaultdict(list)
    for event in events:
        change = change_of(event)
        keys[change.submission if change else ""].append(event.pk)
        if change is not None:
            latest[change.submission] = (event, change)
    for submission in keys:
        if submission and (place := places_of(provider, [submission]).first()) is not None:
            _apply(provider, place, *latest[submission])
        # One after the other, so that a killed worker leaves only the remaining ones to the next.
        provider.events.filter(pk__in=keys[submission]).update(handled_at=timezone.now())
    return len(events)


def _apply(provider: Provider, place: PanelPlace, event: PanelEvent, change: SubmissionChange) -> None:
    at, status = timezone.now(), ""
    try:
        with access.client_of(provider) as client:
            status = client.submission(change.submission).status
    except ProlificError:
        # Its time is not signed: one in the future must not outweigh what Prolific says later.
        status, at = change.status, min(event.happened_at, at)
    reconcile.apply(place, status, at=at)


def change_of(event: PanelEvent) -> SubmissionChange | None:
    """Return an event's data about a submission; None for other events."""
    try:
        body = json.loads(base64.b64decode(access.unseal(event.body_sealed)))
    except (ValueError, RecursionError):
        return None
    if not isinstance(body, dict) or body.get("event_type") != "submission.status.change":
        return None
    submission, status = body.get("resource_id"), body.get("status")
    if not isinstance(submission, str) or not isinstance(status, str) or not 0 < len(submission) <= 200:
        return None
    return SubmissionChange(submission, status.upper().replace("_", " ").replace("TIMED OUT", "TIMED-OUT"))


def places_of(provider: Provider, submissions: Iterable[str]) -> QuerySet[PanelPlace]:
    """Return the places here of submissions in the workspace of a panel."""
    of_workspace = Recruitment.objects.filter(
        provider__kind=provider.kind, provider__workspace=provider.workspace
    )
    hashes = [hashed for submission in submissions for hashed in identities.hashes(submission)]
    places = PanelPlace.objects.filter(recruitment__in=of_workspace, submission_hash__in=hashes)
    return places.select_related("enrolment__campaign", "enrolment__annotator")


def forget_old() -> None:
    """Delete events that were handled some time ago: their bodies name people."""
    PanelEvent.objects.filter(handled_at__lt=timezone.now() - _KEPT).delete()
