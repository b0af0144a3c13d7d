"""The cost of requests: the largest possible cost is reserved before sending, and the rest is given back."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal

from django.db import connection, transaction
from django.db.models import Max, Sum

from foundation.errors import DomainError
from generation.answerers.base import Reply
from generation.models import Answer, ModelCoder, ProbeRun
from generation.probing.requests import PlannedRequest
from generation.probing.totals import STEP, counts_of

_MILLION = Decimal(1_000_000)
# A token has at least one byte, and each message some tokens around it.
TOKENS_AROUND = 40
# Endpoints count tokens of pictures by their own rules; the first answers of the run show their counts.
PICTURE_TOKENS = 1_700


class BudgetSpent(DomainError):
    """The budget does not cover another request, unless a running request costs less than was reserved for it."""


@dataclass(frozen=True)
class Payment:
    """The cost that was reserved for each row of a request before it was sent."""

    request: PlannedRequest
    reserved: Decimal


def price(
    run: ProbeRun | ModelCoder, tokens_in: float, tokens_out: float, *, factor: Decimal = Decimal(1)
) -> Decimal:
    """Return the price of a number of tokens, rounded up to the stored precision."""
    cost = Decimal(tokens_in) * (run.price_in or 0) + Decimal(tokens_out) * (run.price_out or 0)
    return (cost * factor / _MILLION).quantize(STEP, ROUND_UP)


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
    """Keeps a run within its budget: the largest possible cost of a request is reserved before it is sent."""

    def __init__(self, run: ProbeRun, *, factor: Decimal = Decimal(1)) -> None:
        """`factor`: the price of a request as a fraction of the price of a request outside a batch."""
        self._run = run
        self._factor = factor
        self.refresh()
        self._most_seen = run.answers.aggregate(most=Max("tokens_in"))["most"] or 0

    @property
    def paid(self) -> bool:
        return bool(self._run.price_in or self._run.price_out)

    def refresh(self) -> None:
        """Read prices and budget again, which may have changed."""
        self._run.refresh_from_db(fields=["price_in", "price_out", "budget"])

    def pay(self, requests: Sequence[PlannedRequest]) -> list[Payment]:
        """Reserve the largest possible cost of the requests, in order, as far as the budget covers them."""
        if not self.paid:
            return [Payment(request, Decimal(0)) for request in requests]
        payments = [Payment(request, self._most(request)) for request in requests]
        while payments and (beyond := self._written(payments)):
            payments = _without(payments, beyond)
        return payments

    def _written(self, payments: Sequence[Payment]) -> Decimal:
        """Reserve payments unless they exceed the budget; return the excess.

        The counts that the database keeps are read after the reservation is written, so that a second worker whose
        lease ended unnoticed waits for its turn.
        """
        with transaction.atomic():
            self._write(payments)
            asked = ProbeRun.objects.filter(pk=self._run.pk)
            budget, spent_e8 = asked.values_list("budget", Sum("counts__cost_e8")).get()
            beyond = Decimal(0) if budget is None else max(Decimal(0), int(spent_e8 or 0) * STEP - budget)
            if beyond:
                transaction.set_rollback(True)
        return beyond

    def refusal(self) -> BudgetSpent:
        """Return the reason why no more requests are paid."""
        self.refresh()
        return BudgetSpent(
            "budget_spent",
            f"The budget of {self._run.budget or 0:,.2f} does not cover another request: "
            f"{counts_of(self._run).spent:,.2f} has been spent. Raise the budget to continue.",
        )

    def settle(self, payment: Payment, reply: Reply | None) -> Decimal:
        """Return the amount to add to the cost of a row with its reply; None: the request was certainly not
        processed."""
        return self.difference(payment.reserved, reply, answers=len(payment.request.rows))

    def difference(self, reserved: Decimal, reply: Reply | None, *, answers: int = 1) -> Decimal:
        """Return the cost of a row beyond its reservation, in a request for this number of answers."""
        return self._cost(reserved, reply, answers) - reserved if reserved else Decimal(0)

    @staticmethod
    def _write(payments: Sequence[Payment]) -> None:
        rows_by_amount: dict[Decimal, list[Answer]] = {}
        for payment in payments:
            if payment.reserved:
                rows_by_amount.setdefault(payment.reserved, []).extend(payment.request.rows)
        for amount, rows in rows_by_amount.items():
            add_cost(rows, amount)

    def _cost(self, reserved: Decimal, reply: Reply | None, answers: int) -> Decimal:
        if reply is None or not reply.charged:
            return Decimal(0)
        if reply.tokens_in is None or reply.tokens_out is None:
            return reserved
        self._most_seen = max(self._most_seen, reply.tokens_in * answers)
        return self._price(reply.tokens_in, reply.tokens_out)

    def _price(self, tokens_in: float, tokens_out: float) -> Decimal:
        return price(self._run, tokens_in, tokens_out, factor=self._factor)

    def _most(self, request: PlannedRequest) -> Decimal:
        """Return the largest possible cost of a row of a request."""
        asked = request.request
        tokens_in = len((asked.system + asked.prompt).encode()) + TOKENS_AROUND
        tokens_in += PICTURE_TOKENS if asked.picture else 0
        share = max(tokens_in, self._most_seen) / len(request.rows)
        return self._price(share, self._run.parameters["max_tokens"])


def _without(payments: Sequence[Payment], beyond: Decimal) -> list[Payment]:
    """Return the payments without the last ones, whose sum is at least an amount."""
    affordable = list(payments)
    while affordable and beyond > 0:
        removed = affordable.pop()
        beyond -= removed.reserved * len(removed.request.rows)
    return affordable
