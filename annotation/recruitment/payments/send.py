"""Sending ordered payments to the panel, and looking up their state.

Approvals, screen-outs and rejections may be repeated: they are sent until the panel shows them. Bonuses may not: each
call pays again. Their key and the state `sent` are committed before the call; without an answer they are `unknown`, and
nothing here ever sends an unknown one. Unknown bonuses are looked up until the panel shows them, or a person plans them
again.
"""

import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from annotation.recruitment import identities
from annotation.recruitment.models import PanelPayment, Recruitment
from annotation.recruitment.payments.steps import NextStep, next_step
from annotation.recruitment.prolific.client import MOST_APPROVED, MOST_BONUSES, ProlificClient
from annotation.recruitment.prolific.errors import ProlificError

State, Kind = PanelPayment.State, PanelPayment.Kind
# An accepted request is looked up after this, then after a quarter of its age.
_FIRST_LOOK = timedelta(seconds=2)
_LONGEST_WAIT = timedelta(minutes=15)
_NOT_LET_IN = {"prolific_token", "prolific_forbidden"}
_CLAIM_HOLDS = 20.0  # seconds
# A person who is still on the panel's page is asked about again after this.
_AT_WORK = timedelta(minutes=2)


@dataclass(frozen=True)
class Outbox:
    """The open payments of one recruitment, and the panel to which they go."""

    recruitment: Recruitment
    client: ProlificClient

    def due(self, *kinds: str) -> QuerySet[PanelPayment]:
        """Return the payments that may be sent or looked up now."""
        return due(timezone.now()).filter(place__recruitment=self.recruitment, kind__in=kinds)


def due(now: datetime) -> QuerySet[PanelPayment]:
    """Return the due open payments of all recruitments."""
    opened = PanelPayment.objects.filter(settled_at__isnull=True).select_related("place")
    return opened.filter(Q(next_try_at__isnull=True) | Q(next_try_at__lte=now)).order_by("pk")


def shown_within() -> timedelta:
    """Return how long after a request a bonus must not be at the panel before a person may plan it again."""
    return timedelta(seconds=settings.PANEL_BONUS_SECONDS)


def send_due(outbox: Outbox) -> None:
    """Send planned payments and look up sent ones, each once."""
    send_decisions(outbox)
    look_up_bonuses(outbox)
    send_bonuses(outbox)


# Approvals, screen-outs, rejections: repeated until the panel shows them.


def send_decisions(outbox: Outbox) -> None:
    """Send decisions that the panel does not show yet, and settle those it does."""
    payments = list(outbox.due(*PanelPayment.DECISIONS))
    if not payments:
        return
    try:
        submissions = outbox.client.submissions(outbox.recruitment.remote_study)
    except ProlificError as error:
        _put_off(payments, error)
        return
    statuses = {submission.id: submission.status for submission in submissions}
    to_send: dict[str, list[PanelPayment]] = defaultdict(list)
    for payment in payments:
        step = next_step(payment.kind, statuses.get(_submission(payment), ""))
        if step == NextStep.DONE:
            _confirm(payment)
        elif step == NextStep.SEND:
            to_send[payment.kind].append(payment)
        elif step == NextStep.WAIT:
            _wait(payment, _AT_WORK)
        else:
            _refuse([payment], step)
    for chunk in _chunks(to_send[Kind.APPROVE], MOST_APPROVED):
        _approve(outbox, chunk)
    for payment in (*to_send[Kind.REJECT], *to_send[Kind.SCREEN_OUT]):
        _transition(outbox, payment)


def _approve(outbox: Outbox, payments: Sequence[PanelPayment]) -> None:
    _mark_sent(payments)
    try:
        outbox.client.approve([_submission(payment) for payment in payments])
    except ProlificError as error:
        if not _of_one_row(error) or len(payments) == 1:
            _put_off(payments, error)
            return
        # Which of them the panel refuses is found by halves.
        middle = len(payments) // 2
        _approve(outbox, payments[:middle])
        _approve(outbox, payments[middle:])


def _transition(outbox: Outbox, payment: PanelPayment) -> None:
    _mark_sent([payment])
    try:
        if payment.kind == Kind.REJECT:
            outbox.client.reject(_submission(payment), payment.category, payment.place.reason)
        else:
            outbox.client.screen_out(_submission(payment), outbox.recruitment.screen_out_code)
    except ProlificError as error:
        _put_off([payment], error)


def _mark_sent(payments: Sequence[PanelPayment]) -> None:
    """Note a request that may be repeated; it is looked up soon."""
    now = timezone.now()
    _still_open(payments).update(
        state=State.SENT,
        key=uuid.uuid4(),
        sent_at=now,
        attempts=F("attempts") + 1,
        next_try_at=now + max(_pause(payment.attempts) for payment in payments),
    )


# Bonuses: sent once.


def send_bonuses(outbox: Outbox) -> None:
    """Set up planned bonuses at the panel and pay them, once."""
    planned = list(outbox.due(Kind.BONUS).filter(state=State.PLANNED))
    for chunk in _chunks(_not_shown_yet(outbox, planned), MOST_BONUSES):
        _send_together(outbox, chunk)


def _send_together(outbox: Outbox, payments: Sequence[PanelPayment]) -> None:
    rows = [(_submission(payment), payment.amount) for payment in payments]
    try:
        # This pays nobody: a bonus that is set up twice is paid once.
        batch = outbox.client.create_bonuses(outbox.recruitment.remote_study, rows)
    except ProlificError as error:
        if not _of_one_row(error):
            _put_off(payments, error)
            return
        if len(payments) == 1:
            _refuse(payments, error.message)
            return
        middle = len(payments) // 2
        _send_together(outbox, payments[:middle])
        _send_together(outbox, payments[middle:])
        return
    if batch.amount != sum(payment.amount for payment in payments):
        _refuse(
            payments,
            "The panel calculated a different sum, so nothing was paid. Check the bonuses, then send them again.",
        )
        return
    claimed_at = time.monotonic()
    # A process that was stopped for long must not pay what a person may have planned again meanwhile.
    if _claim(payments, batch.id) and time.monotonic() - claimed_at < _CLAIM_HOLDS:
        _pay(outbox, payments, batch.id)


@transaction.atomic(durable=True)
def _claim(payments: Sequence[PanelPayment], batch_id: str) -> bool:
    """Write down that these payments go out now; return whether they may. Committed before anything is sent."""
    keys = [payment.pk for payment in payments]
    planned = PanelPayment.objects.select_for_update().filter(pk__in=keys, state=State.PLANNED)
    if len(planned) != len(keys):
        # Another worker sends one of them, or it was undone; the others follow in the next round.
        return False
    now = timezone.now()
    PanelPayment.objects.filter(pk__in=keys, state=State.PLANNED).update(
        state=State.SENT,
        key=uuid.uuid4(),
        batch=batch_id,
        sent_at=now,
        looked_at=None,
        attempts=F("attempts") + 1,
        next_try_at=now + _FIRST_LOOK,
        problem="",
    )
    return True


def _pay(outbox: Outbox, payments: Sequence[PanelPayment], batch_id: str) -> None:
    sent = PanelPayment.objects.filter(
        pk__in=[payment.pk for payment in payments], state=State.SENT, batch=batch_id
    )
    try:
        outbox.client.pay_bonuses(batch_id)
    except ProlificError as error:
        if error.done is None:
            sent.update(state=State.UNKNOWN, problem=error.message)
        elif _of_one_row(error):
            sent.update(
                state=State.REFUSED, problem=error.message, settled_at=timezone.now(), next_try_at=None
            )
        else:
            again = timezone.now() + _pause(payments[0].attempts, error)
            sent.update(state=State.PLANNED, key=None, sent_at=None, batch="", next_try_at=again)
            _raise_if_lasting(error)


def look_up_bonuses(outbox: Outbox) -> None:
    """Confirm bonuses that the panel shows; those it should show by now and does not are unknown."""
    sent = outbox.due(Kind.BONUS).filter(state__in=[State.SENT, State.UNKNOWN])
    _not_shown_yet(outbox, list(sent))


def _not_shown_yet(outbox: Outbox, payments: list[PanelPayment]) -> list[PanelPayment]:
    """Confirm the bonuses that the panel shows; return the others.

    Bonuses that were never sent are not looked up.
    """
    fresh = [payment for payment in payments if payment.attempts == 0]
    by_place: dict[int, list[PanelPayment]] = defaultdict(list)
    for payment in payments:
        if payment.attempts:
            by_place[payment.place_id].append(payment)
    missing = []
    for place_payments in by_place.values():
        try:
            missing += _look_up(outbox, place_payments)
        except ProlificError as error:
            _put_off(place_payments, error)
    return fresh + missing


def _look_up(outbox: Outbox, payments: Sequence[PanelPayment]) -> list[PanelPayment]:
    """Return the bonuses of one place that the panel does not show."""
    place = payments[0].place
    others = place.payments.filter(kind=Kind.BONUS, state=State.CONFIRMED)
    shown = Counter(outbox.client.bonuses(_submission(payments[0])))
    shown.subtract(others.values_list("amount", flat=True))
    missing = []
    for payment in sorted(payments, key=lambda payment: (payment.sent_at is None, payment.pk)):
        if shown[payment.amount] > 0:
            shown[payment.amount] -= 1
            _confirm(payment)
        else:
            missing.append(payment)
            _note_missing(payment)
    return missing


def _note_missing(payment: PanelPayment) -> None:
    if payment.sent_at is None:
        return  # planned again by a person: it is sent now
    now = timezone.now()
    age = now - payment.sent_at
    wait = min(max(_FIRST_LOOK, age / 4), shown_within())
    fields: dict[str, object] = {"looked_at": now, "next_try_at": now + wait}
    if payment.state == State.SENT and age >= shown_within():
        fields |= {"state": State.UNKNOWN, "problem": "The panel does not show this bonus."}
    _still_open([payment]).filter(key=payment.key).update(**fields)


def hold_restored() -> int:
    """Hold bonuses that were planned when a backup was made: they may have been paid since. Return how many.

    They are never sent automatically. They are looked up at the panel; if it does not show them, a person plans them
    again.
    """
    now = timezone.now()
    return PanelPayment.objects.filter(kind=Kind.BONUS, state=State.PLANNED).update(
        state=State.UNKNOWN,
        key=uuid.uuid4(),
        batch="restored",
        sent_at=now,
        looked_at=None,
        attempts=F("attempts") + 1,
        next_try_at=now,
        problem="The server was restored from a backup. This bonus may have been paid after the backup was made.",
    )


# The stored fields.


def _confirm(payment: PanelPayment) -> None:
    _still_open([payment]).update(
        state=State.CONFIRMED, settled_at=timezone.now(), next_try_at=None, problem=""
    )


def _refuse(payments: Iterable[PanelPayment], problem: str) -> None:
    _still_open(payments).update(
        state=State.REFUSED, settled_at=timezone.now(), next_try_at=None, problem=problem[:300]
    )


def _put_off(payments: Sequence[PanelPayment], error: ProlificError) -> None:
    """Try again later; the state does not change. If the token is wrong, nothing more is tried now."""
    wait = max(_pause(payment.attempts, error) for payment in payments)
    _still_open(payments).update(next_try_at=timezone.now() + wait, problem=error.message[:300])
    _raise_if_lasting(error)


def _of_one_row(error: ProlificError) -> bool:
    """Return whether the panel refused the request itself, instead of being busy, silent, or refusing access."""
    return error.done is False and not error.passing and error.code not in _NOT_LET_IN


def _raise_if_lasting(error: ProlificError) -> None:
    if error.code in _NOT_LET_IN:
        raise error


def _wait(payment: PanelPayment, wait: timedelta) -> None:
    _still_open([payment]).update(next_try_at=timezone.now() + wait)


def _pause(attempts: int, error: ProlificError | None = None) -> timedelta:
    """Return how long to wait: the time that the panel requests, else double the time after each attempt."""
    asked = timedelta(seconds=error.retry_after) if error is not None and error.retry_after else timedelta()
    doublings: int = 2 ** min(attempts, 10)
    return max(asked, min(_LONGEST_WAIT, _FIRST_LOOK * doublings))


def _still_open(payments: Iterable[PanelPayment]) -> QuerySet[PanelPayment]:
    """Return those that are open; of bonuses those in a state in which they were read, for others may send them too."""
    payments = list(payments)
    opened = PanelPayment.objects.filter(pk__in=[payment.pk for payment in payments], settled_at__isnull=True)
    states = {payment.state for payment in payments}
    return opened.filter(Q(kind__in=PanelPayment.DECISIONS) | Q(state__in=states))


def _chunks(payments: list[PanelPayment], size: int) -> Iterator[list[PanelPayment]]:
    for start in range(0, len(payments), size):
        yield payments[start : start + size]


def _submission(payment: PanelPayment) -> str:
    return identities.unseal(payment.place.submission_sealed)
