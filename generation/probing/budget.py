"""What requests cost: written down before they are asked, at most what they can come to; the rest is given back."""

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
# Endpoints count pictures by their own rules; what they counted in this run is known after the first answers.
PICTURE_TOKENS = 1_700


class BudgetSpent(DomainError):
    """The budget does not cover another request, unless one that is under way costs less than it could."""


@dataclass(frozen=True)
class Payment:
    """What was written down for each row of a request before it was asked."""

    request: PlannedRequest
    reserved: Decimal


def price(
    run: ProbeRun | ModelCoder, tokens_in: float, tokens_out: float, *, factor: Decimal = Decimal(1)
) -> Decimal:
    """Return what so many tokens cost, rounded up to what is stored."""
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
    """Keeps a run within its budget: what a request can cost at most is written down before it is sent."""

    def __init__(self, run: ProbeRun, *, factor: Decimal = Decimal(1)) -> None:
        """`factor`: the price of a request as a part of the price of one that is sent by itself."""
        self._run = run
        self._factor = factor
        self.refresh()
        self._most_seen = run.answers.aggregate(most=Max("tokens_in"))["most"] or 0

    @property
    def paid(self) -> bool:
        return bool(self._run.price_in or self._run.price_out)

    def refresh(self) -> None:
        """Read prices and budget, which may have been changed meanwhile."""
        self._run.refresh_from_db(fields=["price_in", "price_out", "budget"])

    def pay(self, requests: Sequence[PlannedRequest]) -> list[Payment]:
        """Write down the most that requests can cost, for as many of them, in order, as the budget covers."""
        if not self.paid:
            return [Payment(request, Decimal(0)) for request in requests]
        payments = [Payment(request, self._most(request)) for request in requests]
        while payments and (beyond := self._written(payments)):
            payments = _without(payments, beyond)
        return payments

    def _written(self, payments: Sequence[Payment]) -> Decimal:
        """Write payments down unless they exceed the budget; return by how much they would.

        The counts that the database keeps are read after they were written: a second worker, whose lease ran out
        unnoticed, waits there for its turn.
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
        """Return why no more requests are paid."""
        self.refresh()
        return BudgetSpent(
            "budget_spent",
            f"The budget of {self._run.budget or 0:,.2f} does not cover another request: "
            f"{counts_of(self._run).spent:,.2f} is spent. Raise the budget to continue.",
        )

    def settle(self, payment: Payment, reply: Reply | None) -> Decimal:
        """Return what is added to the cost of a row when its reply is there; None: it was certainly not asked."""
        return self.difference(payment.reserved, reply, answers=len(payment.request.rows))

    def difference(self, reserved: Decimal, reply: Reply | None, *, answers: int = 1) -> Decimal:
        """Return what a row cost beyond what was reserved for it, in a request for so many answers."""
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
        """Return the most that a row of a request can cost."""
        asked = request.request
        tokens_in = len((asked.system + asked.prompt).encode()) + TOKENS_AROUND
        tokens_in += PICTURE_TOKENS if asked.picture else 0
        share = max(tokens_in, self._most_seen) / len(request.rows)
        return self._price(share, self._run.parameters["max_tokens"])


def _without(payments: Sequence[Payment], beyond: Decimal) -> list[Payment]:
    """Return the first payments, without as many of the last as come to an amount."""
    affordable = list(payments)
    while affordable and beyond > 0:
        removed = affordable.pop()
        beyond -= removed.reserved * len(removed.request.rows)
    return affordable
