"""Updating places from their statuses at Prolific: screens of people who left are freed, payments are recorded."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest, Least
from django.utils import timezone

from annotation.recruitment import identities, places
from annotation.recruitment.models import PanelPayment, PanelPlace, Recruitment
from annotation.recruitment.prolific import access
from annotation.recruitment.prolific.connection import Patience
from annotation.recruitment.prolific.results import RemoteSubmission, Status

State = PanelPlace.State
_LISTED = 500  # ids in one query


@dataclass(frozen=True)
class Comparison:
    """The number of a recruitment's places at Prolific, and the number changed here."""

    submissions: int
    changed: int


def compare(recruitment: Recruitment, *, patience: Patience | None = None) -> Comparison:
    """Compare every place of a recruitment with Prolific."""
    asked_at = timezone.now()
    with access.client_of(recruitment.provider, patience=patience) as client:
        study = client.study(recruitment.remote_study)
        submissions = client.submissions(recruitment.remote_study)
    changed = sum(
        apply(place, submission.status, at=asked_at)
        for place, submission in _known(recruitment, submissions)
        if place.remote_status != submission.status
        or (place.state == State.WORKING and submission.status not in Status.WORKING)
    )
    Recruitment.objects.filter(pk=recruitment.pk).update(
        compared_at=timezone.now(), remote_state=study.status[:20]
    )
    return Comparison(len(submissions), changed)


def is_due(recruitment: Recruitment, *, interval: timedelta) -> bool:
    """Return whether the last comparison is longer ago than that."""
    if not recruitment.provider.has_api or not recruitment.remote_study or recruitment.settled_at is not None:
        return False
    return recruitment.compared_at is None or recruitment.compared_at < timezone.now() - interval


def _known(
    recruitment: Recruitment, submissions: tuple[RemoteSubmission, ...]
) -> list[tuple[PanelPlace, RemoteSubmission]]:
    by_hash = {
        hashed: submission for submission in submissions for hashed in identities.hashes(submission.id)
    }
    pairs, hashes = [], list(by_hash)
    for begin in range(0, len(hashes), _LISTED):
        places_here = PanelPlace.objects.filter(
            recruitment=recruitment, submission_hash__in=hashes[begin : begin + _LISTED]
        )
        pairs += [(place, by_hash[str(place.submission_hash)]) for place in places_here]
    return pairs


@transaction.atomic
def apply(place: PanelPlace, status: str, *, at: datetime) -> bool:
    """Take over Prolific's status of a place at a time; return whether anything changed.

    A status older than the stored one is ignored. A person who no longer works there loses their screens here.
    """
    if status not in Status.ALL:
        return False  # a status that is newer than this program
    recruitment = Recruitment.objects.select_for_update().get(pk=place.recruitment_id)
    place = PanelPlace.objects.select_related("enrolment__campaign", "enrolment__annotator").get(pk=place.pk)
    if place.remote_at is not None and place.remote_at > at:
        return False
    if place.state == State.WORKING and status not in Status.WORKING:
        place = places.end(place=place, state=_end_of(place, status))
    _count(place, status)
    changed = place.remote_status != status
    place.remote_status, place.remote_at = status, at
    fields = ["remote_status", "remote_at"]
    if status in Status.PAID and not place.outcome:
        place.outcome, place.decided_at = PanelPlace.Outcome.APPROVED, timezone.now()
        fields += ["outcome", "decided_at"]
        if status == Status.APPROVED:
            _note_payment(place, recruitment, PanelPayment.Kind.APPROVE, recruitment.reward)
        elif status == Status.SCREENED_OUT and recruitment.screen_out_reward is not None:
            _note_payment(place, recruitment, PanelPayment.Kind.SCREEN_OUT, recruitment.screen_out_reward)
    place.save(update_fields=fields)
    return changed


def _note_payment(place: PanelPlace, recruitment: Recruitment, kind: str, amount: int) -> None:
    """Record payments that were not ordered here: automatic ones after 21 days, or by a person there."""
    if place.payments.filter(kind__in=PanelPayment.DECISIONS).exists():
        return
    PanelPayment.objects.create(
        place=place,
        kind=kind,
        amount=amount,
        currency=recruitment.currency,
        state=PanelPayment.State.CONFIRMED,
        settled_at=timezone.now(),
    )


def _end_of(place: PanelPlace, status: str) -> str:
    """Return the state in which a place ends that has ended at Prolific."""
    if status == Status.SCREENED_OUT:
        return State.SCREENED_OUT
    if status in Status.GONE or status == Status.REJECTED:
        return State.LEFT
    # They returned with or without a code; those who answered something are proposed for payment.
    return State.COMPLETED if places.answered_in(place) else State.LEFT


def _count(place: PanelPlace, status: str) -> None:
    """Mark a completed place as reassigned if Prolific gives it to somebody else, or as held again."""
    if place.state != State.COMPLETED:
        return
    before, after = place.remote_status in PanelPlace.GIVEN_ON, status in PanelPlace.GIVEN_ON
    recruitment = Recruitment.objects.filter(pk=place.recruitment_id)
    if after and not before:
        recruitment.update(held=Greatest(F("held") - 1, 0))
    elif before and not after:
        recruitment.update(held=Least(F("held") + 1, F("places")))
