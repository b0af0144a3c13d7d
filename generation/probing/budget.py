"""What requests cost: written down before they are asked, at most what they can come to; the rest is given back."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal

from django.db import connection
from django.db.models import Max, Sum

from foundation.errors import DomainError
from generation.answerers.base import Reply
from generation.models import Answer, ProbeRun
from generation.probing.requests import PlannedRequest

_MILLION = Decimal(1_000_000)
_STEP = Decimal("0.00000001")  # as the column
# A token has at least one byte, and each message some tokens around it.
_TOKENS_AROUND = 40
# Endpoints count pictures by their own rules; what they counted in this run is known after the first answers.
PICTURE_TOKENS = 1_700


class BudgetSpent(DomainError):
    """The budget does not cover another request, unless one that is under way costs less than it could."""


@dataclass(frozen=True)
class Payment:
    """What was written down for each row of a request before it was asked."""

    request: PlannedRequest
    reserved: Decimal


def spent(run: ProbeRun) -> Decimal:
    """Return what the run has cost so far, requests that were under way when a worker died included."""
    # SQLite adds floating-point numbers.
    return (run.answers.aggregate(spent=Sum("cost"))["spent"] or Decimal(0)).quantize(_STEP)


def price(run: ProbeRun, tokens_in: float, tokens_out: float) -> Decimal:
    """Return what so many tokens cost, rounded up to what is stored."""
    cost = Decimal(tokens_in) * (run.price_in or 0) + Decimal(tokens_out) * (run.price_out or 0)
    return (cost / _MILLION).quantize(_STEP, ROUND_UP)


def add_cost(rows: Sequence[Answer], amount: Decimal) -> None:
    """Add an amount to the cost of each row."""
    table = connection.ops.quote_name(Answer._meta.db_table)
    places = ", ".join(["%s"] * len(rows))
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET cost = cost + %s WHERE id IN ({places})",  # noqa: S608
            [Answer._meta.get_field("cost").get_db_prep_save(amount, connection), *(row.pk for row in rows)],
        )


class Purse:
    """Keeps a run within its budget. One job asks the questions of a run, so what is spent is counted here."""

    def __init__(self, run: ProbeRun) -> None:
        self._run = run
        self.refresh()
        self._spent = spent(run)
        self._most_seen = run.answers.aggregate(most=Max("tokens_in"))["most"] or 0

    @property
    def paid(self) -> bool:
        return bool(self._run.price_in or self._run.price_out)

    def refresh(self) -> None:
        """Read prices and budget, which may have been changed meanwhile."""
        self._run.refresh_from_db(fields=["price_in", "price_out", "budget"])

    def pay(self, request: PlannedRequest) -> Payment:
        """Reserve the most that a request can cost; raise BudgetSpent where the budget does not cover it."""
        if not self.paid:
            return Payment(request, Decimal(0))
        reserved = self._most(request)
        total = reserved * len(request.rows)
        budget = self._run.budget
        if budget is not None and self._spent + total > budget:
            raise BudgetSpent(
                "budget_spent",
                f"The budget of {budget:,.2f} does not cover another request: {self._spent:,.2f} is spent. "
                "Raise the budget to go on.",
            )
        self._spent += total
        return Payment(request, reserved)

    def write(self, payments: Sequence[Payment]) -> None:
        """Write reservations down; inside the transaction after which the requests are sent."""
        rows_by_amount: dict[Decimal, list[Answer]] = {}
        for payment in payments:
            if payment.reserved:
                rows_by_amount.setdefault(payment.reserved, []).extend(payment.request.rows)
        for amount, rows in rows_by_amount.items():
            add_cost(rows, amount)

    def settle(self, payment: Payment, reply: Reply | None) -> Decimal:
        """Return what is added to the cost of a row when its reply is there; None: it was certainly not asked."""
        if not payment.reserved:
            return Decimal(0)
        cost = self._cost(payment, reply)
        self._spent += cost - payment.reserved
        return cost - payment.reserved

    def _cost(self, payment: Payment, reply: Reply | None) -> Decimal:
        if reply is None or not reply.charged:
            return Decimal(0)
        if reply.tokens_in is None or reply.tokens_out is None:
            return payment.reserved
        self._most_seen = max(self._most_seen, reply.tokens_in * len(payment.request.rows))
        return price(self._run, reply.tokens_in, reply.tokens_out)

    def _most(self, request: PlannedRequest) -> Decimal:
        """Return the most that a row of a request can cost."""
        asked = request.request
        tokens_in = len((asked.system + asked.prompt).encode()) + _TOKENS_AROUND
        tokens_in += PICTURE_TOKENS if asked.picture else 0
        share = max(tokens_in, self._most_seen) / len(request.rows)
        return price(self._run, share, self._run.parameters["max_tokens"])
