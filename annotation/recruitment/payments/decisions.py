"""A person's decisions about pay: approve, reject, pay bonuses, plan a lost bonus again, settle.

If the panel has an API, a decision is a planned payment, which a worker sends. Otherwise it records what the person did
at the panel, and is confirmed at once.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from annotation.recruitment import cost
from annotation.recruitment.models import PanelPayment, PanelPlace, Recruitment
from annotation.recruitment.payments import job_queue, proposals, review
from annotation.recruitment.payments.panel_api import pays_by_program
from annotation.recruitment.payments.proposals import ProposedPayment
from annotation.recruitment.payments.send import shown_within
from annotation.recruitment.recruitments import locked, record
from foundation.errors import Conflict, DomainError

Outcome, Kind, Cause, State = PanelPlace.Outcome, PanelPayment.Kind, PanelPayment.Cause, PanelPayment.State
# Why a place is rejected, as panels name it.
CATEGORIES = {
    "FAILED_CHECK": "Failed checks",
    "FAILED_INSTRUCTIONS": "Did not follow the instructions",
    "LOW_EFFORT": "Little effort",
    "TOO_QUICKLY": "Far too quick",
    "TOO_SLOWLY": "Far too slow",
    "NO_CODE": "No code",
    "BAD_CODE": "Wrong code",
    "NO_DATA": "No answers",
    "UNSUPP_DEVICE": "Device that the study excludes",
    "MALINGERING": "Answered with the intention to deceive",
    "OTHER": "Another reason",
}


@dataclass(frozen=True)
class Decision:
    """Decision about one place; a rejection needs a category and a reason."""

    outcome: str
    reason: str = ""
    category: str = ""


@transaction.atomic
def approve_all(*, recruitment: Recruitment, by: User) -> int:
    """Approve everybody who worked or was turned away and is not decided about; return how many."""
    recruitment = _open_for_decisions(recruitment)
    approvals = review.review_of(recruitment).approvals
    _order(recruitment, approvals, by)
    if approvals:
        record(by, "places_approved", recruitment, places=len(approvals))
    return len(approvals)


@transaction.atomic
def pay_bonuses(*, recruitment: Recruitment, total: int, by: User) -> int:
    """Pay all proposed bonuses, if their total is still the one that the person saw; return their number."""
    recruitment = _open_for_decisions(recruitment)
    proposed = review.review_of(recruitment)
    if proposed.bonus_total.units != total:
        raise Conflict(
            "bonuses_changed",
            f"The bonuses have changed and now come to {proposed.bonus_total}. Check the bonuses again.",
        )
    _order(recruitment, proposed.bonuses, by)
    if proposed.bonuses:
        record(
            by, "bonuses_ordered", recruitment, bonuses=len(proposed.bonuses), total=str(proposed.bonus_total)
        )
    return len(proposed.bonuses)


@transaction.atomic
def decide(*, place: PanelPlace, decision: Decision, by: User) -> PanelPlace:
    """Approve or reject one place. A decision that was sent to the panel can no longer be changed."""
    decision = _checked(decision)
    recruitment = _open_for_decisions(place.recruitment)
    place = PanelPlace.objects.get(pk=place.pk)
    if place.state == PanelPlace.State.WORKING:
        raise Conflict(
            "place_in_work", "Somebody is still working in this place. Wait, or end the place first."
        )
    _take_back(place, by_program=pays_by_program(recruitment))
    place.outcome, place.reason = Outcome(decision.outcome), decision.reason
    place.decided_at, place.decided_by = timezone.now(), by
    place.save(update_fields=["outcome", "reason", "decided_at", "decided_by"])
    if (ordered := _of_decision(place, recruitment, decision)) is not None:
        _store(recruitment, [ordered], by, category=decision.category)
    record(by, f"place_{decision.outcome}", recruitment, place=place.pk)
    return place


@transaction.atomic
def plan_again(*, payment: PanelPayment, by: User) -> PanelPayment:
    """Plan a bonus again that the panel refused, or does not show long after it was sent; a person decides this."""
    recruitment = _open_for_decisions(payment.place.recruitment)
    payment = PanelPayment.objects.select_for_update().get(pk=payment.pk)
    if not may_plan_again(payment):
        raise Conflict(
            "payment_not_lost",
            "You can send this bonus again when the panel has not shown it for "
            f"{shown_within().total_seconds() / 60:.0f} minutes.",
        )
    payment.state, payment.problem, payment.batch = State.PLANNED, "", ""
    payment.key = payment.sent_at = payment.looked_at = payment.next_try_at = payment.settled_at = None
    payment.decided_by = by
    payment.save()
    record(by, "bonus_planned_again", recruitment, amount=str(cost.Money(payment.amount, payment.currency)))
    job_queue.wake(recruitment, by=by)
    return payment


def may_plan_again(payment: PanelPayment) -> bool:
    """Return whether the panel refused a bonus, or did not show an unknown one when it should have."""
    if payment.kind != Kind.BONUS or payment.state != State.UNKNOWN:
        return payment.kind == Kind.BONUS and payment.state == State.REFUSED
    return (
        payment.sent_at is not None
        and payment.looked_at is not None
        and payment.looked_at - payment.sent_at >= shown_within()
    )


@transaction.atomic
def note_paid(*, payment: PanelPayment, by: User) -> PanelPayment:
    """Note that a person saw at the panel that an unknown bonus was paid."""
    recruitment = _open_for_decisions(payment.place.recruitment)
    payment = PanelPayment.objects.select_for_update().get(pk=payment.pk)
    if payment.state != State.UNKNOWN:
        raise Conflict("payment_not_unknown", f"This payment is {payment.state}.")
    payment.state, payment.settled_at, payment.next_try_at = State.CONFIRMED, timezone.now(), None
    payment.save(update_fields=["state", "settled_at", "next_try_at"])
    record(by, "bonus_seen", recruitment, amount=str(cost.Money(payment.amount, payment.currency)))
    return payment


@transaction.atomic
def settle(*, recruitment: Recruitment, by: User) -> Recruitment:
    """Note that everybody was paid or refused. The panel's ids are erased 90 days later."""
    recruitment = locked(recruitment)
    if recruitment.state != Recruitment.State.CLOSED:
        raise Conflict("recruitment_not_closed", "Close the recruitment first.")
    if recruitment.panel_places.filter(state=PanelPlace.State.WORKING).exists():
        raise Conflict("places_in_work", "People are still working. Wait, or end their places first.")
    if review.undecided(recruitment).exists():
        raise Conflict("places_undecided", "Approve or reject every place first.")
    if PanelPayment.objects.filter(place__recruitment=recruitment, state__in=PanelPayment.OPEN).exists():
        raise Conflict(
            "payments_open", "Some payments are not confirmed yet. Decide about these payments, or wait."
        )
    if recruitment.settled_at is None:
        recruitment.settled_at = timezone.now()
        recruitment.save(update_fields=["settled_at"])
        record(by, "settled", recruitment)
    return recruitment


def _open_for_decisions(recruitment: Recruitment) -> Recruitment:
    recruitment = locked(recruitment)
    if recruitment.settled_at is not None:
        raise Conflict("recruitment_settled", "This recruitment is settled and cannot be changed.")
    return recruitment


def _checked(decision: Decision) -> Decision:
    reason = " ".join(decision.reason.split())
    if decision.outcome != Outcome.REJECTED:
        return Decision(decision.outcome, reason)
    wrong = {}
    if not 100 <= len(reason) <= 500:
        wrong["reason"] = (
            "Give the reason in 100 to 500 characters; the panel asks for it, and the person may read it."
        )
    if decision.category not in CATEGORIES:
        wrong["category"] = "Choose a category for the rejection."
    if wrong:
        raise DomainError("rejection_reason", " ".join(wrong.values()), fields=wrong)
    return Decision(decision.outcome, reason, decision.category)


def _of_decision(place: PanelPlace, recruitment: Recruitment, decision: Decision) -> ProposedPayment | None:
    """Return the payment that follows from a decision; None if there is nothing to decide at the panel."""
    given_back = place.state in {PanelPlace.State.LEFT, PanelPlace.State.DECLINED}
    if decision.outcome == Outcome.REJECTED:
        return None if given_back else ProposedPayment(place.pk, Kind.REJECT, 0)
    if not given_back:
        return ProposedPayment(place.pk, *review.terms_of(recruitment).decision(place.state))
    if not place.answered:
        return None
    amount = proposals.part_of_reward(recruitment.reward, place.answered, recruitment.screens)
    return ProposedPayment(place.pk, Kind.BONUS, amount, Cause.WORK)


def _take_back(place: PanelPlace, *, by_program: bool) -> None:
    """Delete ordered payments of a place that were not sent; Conflict if one was sent.

    A top-up that a person paid stays: without it, the same top-up would be proposed again.
    """
    payments = [
        payment
        for payment in place.payments.select_for_update()
        if by_program or payment.cause != Cause.TOP_UP
    ]
    for payment in payments:
        never_sent = payment.state == State.PLANNED and not payment.attempts
        if by_program and not never_sent and payment.state != State.REFUSED:
            raise Conflict(
                "payment_sent",
                "This decision was already sent to the panel. Change the decision at the panel.",
            )
    PanelPayment.objects.filter(pk__in=[payment.pk for payment in payments]).delete()


def _order(recruitment: Recruitment, proposed: Iterable[ProposedPayment], by: User) -> None:
    """Approve the places of payments and store these; a top-up decides nothing about its place."""
    proposed = list(proposed)
    decided = [payment.place for payment in proposed if payment.cause != Cause.TOP_UP]
    recruitment.panel_places.filter(pk__in=decided, outcome="").update(
        outcome=Outcome.APPROVED, decided_at=timezone.now(), decided_by=by
    )
    _store(recruitment, proposed, by)


def _store(
    recruitment: Recruitment, proposed: Iterable[ProposedPayment], by: User, *, category: str = ""
) -> None:
    proposed, by_program = list(proposed), pays_by_program(recruitment)
    PanelPayment.objects.bulk_create(
        PanelPayment(
            place_id=payment.place,
            kind=payment.kind,
            cause=payment.cause,
            amount=payment.amount,
            currency=recruitment.currency,
            category=category,
            state=State.PLANNED if by_program else State.CONFIRMED,
            settled_at=None if by_program else timezone.now(),
            decided_by=by,
        )
        for payment in proposed
    )
    if by_program and proposed:
        job_queue.wake(recruitment, by=by)
