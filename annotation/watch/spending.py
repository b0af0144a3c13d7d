"""What a campaign has cost so far: its annotators' pay, and the places that panels have given."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet

from annotation.kinds.options import Options
from annotation.models import Assignment, Campaign
from annotation.people import pay


class Payer(ABC):
    """Somebody who pays annotators in another way than by the campaign's rate, such as a panel."""

    @abstractmethod
    def annotators(self, campaign: Campaign) -> QuerySet[Any]:
        """Return the keys of annotators whom it pays."""

    @abstractmethod
    def spent(self, campaign: Campaign) -> Mapping[str, Decimal]:
        """Return what it has paid or will have to pay, by currency."""

    @abstractmethod
    def low_pay(self, campaigns: Iterable[int]) -> Mapping[int, str]:
        """Return by campaign a sentence where people earn less than the minimum an hour."""


_payers: list[Payer] = []


def register_payer(payer: Payer) -> None:
    """Add a payer. Call it once, in the `ready` of its app."""
    _payers.append(payer)


def payers() -> tuple[Payer, ...]:
    return tuple(_payers)


@dataclass(frozen=True)
class Spending:
    """An amount in the campaign's currency, and the currencies of amounts that cannot be added to it."""

    amount: Decimal
    currency: str
    other_currencies: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.amount:,.{pay.digits_of(self.currency)}f} {self.currency}"


def spent(campaign: Campaign) -> Spending:
    """Return what a campaign has cost.

    Each screen that is open now counts as one more answer, because it will be paid when it is submitted.
    """
    currency = campaign.options.get("pay_currency", Options.default("pay_currency"))
    amount = _by_rate(campaign)
    others: set[str] = set()
    for payer in _payers:
        for paid_in, paid in payer.spent(campaign).items():
            if paid_in == currency:
                amount += paid
            else:
                others.add(paid_in)
    return Spending(amount, currency, tuple(sorted(others)))


def _by_rate(campaign: Campaign) -> Decimal:
    rate = pay.Rate.of(campaign)
    if rate is None:
        return Decimal(0)
    paid_elsewhere = {key for payer in _payers for key in payer.annotators(campaign)}
    work_by_annotator = pay.work_by_annotator(campaign)
    works = [work for annotator, work in work_by_annotator.items() if annotator not in paid_elsewhere]
    open_screens = Assignment.objects.filter(task__campaign=campaign, state=Assignment.State.LEASED)
    open_count = open_screens.exclude(annotator__in=paid_elsewhere).count()
    tasks = sum(work.tasks for work in works)
    mean_seconds = sum(work.seconds for work in works) / tasks if tasks else 0.0
    earned = (rate.comes_to(tasks=work.tasks, seconds=work.seconds) for work in works)
    return sum(earned, Decimal(0)) + rate.comes_to(tasks=open_count, seconds=open_count * mean_seconds)
