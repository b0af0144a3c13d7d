"""Annotators' work and what it earns at a campaign's rate, for themselves and for the lead.

Every submitted screen is paid, including gold tasks, repeats, late submissions and those later left out of results.
Skipped screens and practice are not counted.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Self

from django.db.models import Count, Max, Min, Q, QuerySet, Sum
from django.utils import formats, timezone
from django.utils.translation import get_language

from accounts.models import Annotator
from annotation.campaigns import snapshots
from annotation.kinds.options import Options
from annotation.models import Annotation, Campaign

# Currencies without a smaller unit in use (ISO 4217); all others are rounded to hundredths.
_WHOLE = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"


def digits_of(currency: str) -> int:
    """Return how many decimal places amounts in a currency have."""
    return 0 if currency in _WHOLE.split() else 2


_SYMBOLS = {"GBP": "£", "EUR": "€", "USD": "$", "INR": "₹", "JPY": "¥"}
_SYMBOL_FIRST = ("en", "hi")


def money_text(amount: Decimal, currency: str) -> str:
    """Return an amount as the active language writes it: £4.10, and 4,10 £ in German."""
    number = formats.number_format(amount, decimal_pos=digits_of(currency), force_grouping=True)
    symbol = _SYMBOLS.get(currency)
    if symbol and (get_language() or "en").startswith(_SYMBOL_FIRST):
        return f"{symbol}{number}"
    return f"{number}\N{NO-BREAK SPACE}{symbol or currency}"


@dataclass(frozen=True)
class Rate:
    """An amount for an hour of active work or for a submitted screen."""

    amount: Decimal
    currency: str
    per: str

    @classmethod
    def of(cls, campaign: Campaign) -> Self | None:
        """Return the rate of a campaign, or None if none is set."""
        options = campaign.options
        if options.get("pay_amount") is None:
            return None
        return cls(
            amount=Decimal(str(options["pay_amount"])),
            currency=options.get("pay_currency", Options.default("pay_currency")),
            per=options.get("pay_per", Options.default("pay_per")),
        )

    @property
    def digits(self) -> int:
        return digits_of(self.currency)

    def comes_to(self, *, tasks: int, seconds: float) -> Decimal:
        """Return the pay for this work, rounded half up to the currency's smallest unit."""
        units = Decimal(tasks) if self.per == "task" else Decimal(str(seconds)) / 3600
        return self.rounded(self.amount * units)

    def rounded(self, amount: Decimal) -> Decimal:
        """Return an amount rounded half up to the currency's smallest unit."""
        return amount.quantize(Decimal(1).scaleb(-self.digits), ROUND_HALF_UP)


@dataclass(frozen=True)
class Work:
    """One annotator's work in a campaign."""

    tasks: int = 0
    seconds: float = 0.0
    untimed: int = 0  # screens without a time (no scripts, or over the API), which earn nothing by the hour
    first: datetime | None = None
    last: datetime | None = None

    @property
    def hours(self) -> float:
        return self.seconds / 3600


@dataclass(frozen=True)
class StatementLine:
    """One annotator's line of a statement; `amount` is None if no rate is set."""

    pseudonym: str
    work: Work
    amount: Decimal | None


@dataclass(frozen=True)
class Statement:
    """Time and pay of everybody who worked in a campaign within a range of days."""

    rate: Rate | None
    lines: tuple[StatementLine, ...]

    @property
    def tasks(self) -> int:
        return sum(line.work.tasks for line in self.lines)

    @property
    def seconds(self) -> float:
        return sum(line.work.seconds for line in self.lines)

    @property
    def hours(self) -> float:
        return self.seconds / 3600

    @property
    def untimed(self) -> int:
        return sum(line.work.untimed for line in self.lines)

    @property
    def amount(self) -> Decimal | None:
        """The sum of the rounded lines, which is paid out."""
        return (
            None if self.rate is None else sum((line.amount or Decimal(0) for line in self.lines), Decimal(0))
        )


def shown_statement(
    campaign: Campaign, *, since: date | None = None, until: date | None = None
) -> tuple[Statement | None, datetime | None]:
    """Return a statement for a page and when it was counted (None: now); no statement while a first count runs."""
    days = "..".join("" if day is None else day.isoformat() for day in (since, until))
    counted = snapshots.read(campaign, "pay", days)
    if counted.pending:
        return None, None
    rate = Rate.of(campaign)
    return Statement(rate, tuple(_line(rate, *row) for row in counted.value)), counted.counted_at


@snapshots.register("pay")
def _count(campaign: Campaign, days: str) -> list[list[Any]]:
    since, until = (date.fromisoformat(day) if day else None for day in days.split(".."))
    pay_statement = statement(campaign, since=since, until=until)
    return [
        [
            line.pseudonym,
            *(line.work.tasks, line.work.seconds, line.work.untimed),
            *(moment and moment.isoformat() for moment in (line.work.first, line.work.last)),
        ]
        for line in pay_statement.lines
    ]


def _line(
    rate: Rate | None, pseudonym: str, tasks: int, seconds: float, untimed: int, *moments: str | None
) -> StatementLine:
    first_at, last_at = (datetime.fromisoformat(moment) if moment else None for moment in moments)
    work = Work(tasks, seconds, untimed, first_at, last_at)
    return StatementLine(
        pseudonym, work, None if rate is None else rate.comes_to(tasks=tasks, seconds=seconds)
    )


def statement(campaign: Campaign, *, since: date | None = None, until: date | None = None) -> Statement:
    """Return each annotator's work from `since` to `until`, both days included, in the server's time zone.

    A correction's time counts on the day it was made; it is not another screen. Simulated annotators appear
    only in statements of simulated studies.
    """
    rate = Rate.of(campaign)
    rows = _work(_within(_paid(campaign), since, until))
    lines = []
    for pseudonym, *values in rows.values_list("annotator__pseudonym", *_SUMS).order_by(
        "annotator__pseudonym"
    ):
        work = Work(*values)
        amount = None if rate is None else rate.comes_to(tasks=work.tasks, seconds=work.seconds)
        lines.append(StatementLine(pseudonym, work, amount))
    return Statement(rate, tuple(lines))


def work_by_annotator(campaign: Campaign) -> dict[int, Work]:
    """Return the paid work of everybody in a campaign, by annotator: one query."""
    sums = _work(_paid(campaign), "annotator").values_list("annotator", *_SUMS)
    return {annotator: Work(*values) for annotator, *values in sums}


def _paid(campaign: Campaign) -> QuerySet[Annotation]:
    """Return the answers for which somebody is paid: simulated ones only in simulated studies."""
    rows = Annotation.objects.filter(campaign=campaign).exclude(annotator__origin=Annotator.Origin.IMPORTED)
    if not campaign.study.simulated:
        rows = rows.exclude(annotator__origin=Annotator.Origin.SIMULATED)
    return rows


def work_of(annotator_id: int, campaigns: Iterable[int]) -> dict[int, Work]:
    """Return an annotator's own work by campaign: one query."""
    rows = Annotation.objects.filter(annotator=annotator_id, campaign__in=campaigns)
    sums = _work(rows, "campaign").values_list("campaign", *_SUMS)
    return {campaign: Work(*values) for campaign, *values in sums}


def so_far(annotator_id: int, campaign: Campaign) -> dict[str, str] | None:
    """Return what an annotator has earned so far, for their screen; None if no rate is set."""
    rate = Rate.of(campaign)
    if rate is None:
        return None
    work = work_of(annotator_id, [campaign.pk]).get(campaign.pk, Work())
    amount = rate.comes_to(tasks=work.tasks, seconds=work.seconds)
    return {"amount": str(amount), "currency": rate.currency, "rate": str(rate.amount), "per": rate.per}


_SUMS = ("tasks", "seconds", "untimed", "first", "last")


def _work(rows: QuerySet[Annotation], *by: str) -> QuerySet[Annotation, Any]:
    is_first_revision = Q(revision=1)
    sums: QuerySet[Annotation, Any] = (
        rows.order_by()
        .values(*(by or ("annotator", "annotator__pseudonym")))
        .annotate(
            tasks=Count("pk", filter=is_first_revision),
            seconds=Sum("active_seconds", default=0.0),
            untimed=Count("pk", filter=is_first_revision & Q(active_seconds=None)),
            first=Min("submitted_at"),
            last=Max("submitted_at"),
        )
    )
    return sums


def _within(rows: QuerySet[Annotation], since: date | None, until: date | None) -> QuerySet[Annotation]:
    if since is not None:
        rows = rows.filter(submitted_at__gte=_midnight(since))
    if until is not None:
        rows = rows.filter(submitted_at__lt=_midnight(until + timedelta(days=1)))
    return rows


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time()))
