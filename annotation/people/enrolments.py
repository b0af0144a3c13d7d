"""Pause, resume and exclude an annotator of a campaign. Labels are never deleted."""

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from annotation import integrations
from annotation.answers import freed_slots
from annotation.assignment import leases, slots
from annotation.models import Enrolment, QualityEvent
from foundation.errors import Conflict, DomainError
from studies import audit

State = Enrolment.State
_DONE = {State.PAUSED: "paused", State.ACTIVE: "resumed", State.EXCLUDED: "excluded"}


def pause(*, enrolment: Enrolment, by: User | None, reason: str) -> Enrolment:
    """Give this annotator no tasks for now, and release those they have open."""
    return _move(enrolment, {State.ACTIVE}, State.PAUSED, by, reason)


@transaction.atomic
def resume(*, enrolment: Enrolment, by: User | None, reason: str) -> Enrolment:
    """Let the annotator continue. After an exclusion their labels count again if their places are free.

    Flags of the campaign's quality rules end, and the rules apply only to answers from now on.
    """
    enrolment = _move(enrolment, {State.PAUSED, State.EXCLUDED}, State.ACTIVE, by, reason)
    enrolment.quality_events.filter(ended_at=None).update(
        ended_at=timezone.now(), ending=QualityEvent.Ending.RESUMED
    )
    freed_slots.take_back(enrolment)
    return enrolment


@transaction.atomic
def exclude(*, enrolment: Enrolment, by: User | None, reason: str, ask_again: bool = False) -> Enrolment:
    """Exclude the annotator: their labels are kept, and count in no result from now on.

    With `ask_again` the screens they answered are offered to others.
    """
    effect = freed_slots.effect_of_excluding(enrolment)
    enrolment = _move(
        enrolment,
        {State.ACTIVE, State.PAUSED},
        State.EXCLUDED,
        by,
        reason,
        labels=effect.labels,
        ask_again=ask_again,
    )
    if ask_again:
        freed_slots.free(
            campaign=enrolment.campaign,
            annotator_id=enrolment.annotator_id,
            reason=freed_slots.WITH_ANNOTATOR,
        )
    return enrolment


@transaction.atomic
def _move(
    enrolment: Enrolment, before: set[State], after: State, by: User | None, reason: str, **details: object
) -> Enrolment:
    reason = " ".join(reason.split())
    if not reason:
        message = "Give a reason. The reason is kept in the study’s history."
        raise DomainError("reason_missing", message, fields={"reason": message})
    if len(reason) > 300:
        message = "The reason is longer than 300 characters."
        raise DomainError("reason_too_long", message, fields={"reason": message})
    leases.lock_for_decisions([enrolment])
    moved = Enrolment.objects.filter(pk=enrolment.pk, state__in=before).update(state=after, reason=reason)
    enrolment = Enrolment.objects.select_related("campaign__study", "annotator").get(pk=enrolment.pk)
    if not moved:
        raise Conflict(
            "wrong_state",
            f"{enrolment.annotator.pseudonym} is {enrolment.state} and cannot be {_DONE[after]}.",
        )
    if after != State.ACTIVE:
        slots.lock_held(enrolment.annotator_id, [enrolment.campaign_id])
        leases.release(annotator=enrolment.annotator, campaign=enrolment.campaign)
    for tool in integrations.registered():
        tool.eligibility_changed(enrolment.campaign, enrolment.annotator_id)
    audit.record(
        by=by,
        action=f"enrolment.{_DONE[after]}",
        subject=enrolment.campaign,
        study=enrolment.campaign.study,
        pseudonym=enrolment.annotator.pseudonym,
        reason=reason,
        **details,
    )
    return enrolment
