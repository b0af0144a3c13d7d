"""How far the probe runs of a study are, what became of their requests, and what they cost."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Count, Min, Sum

from generation.models import Answer, ProbeRun

Outcome = Answer.Outcome
_MOST_REASONS = 20


@dataclass(frozen=True)
class ProbeRunLine:
    """A probe run in the list."""

    run: ProbeRun
    done: int
    declined: int
    failed: int
    pending: int
    spent: Decimal

    @property
    def total(self) -> int:
        return self.done + self.declined + self.failed + self.pending

    @property
    def active(self) -> bool:
        return self.run.job is not None and not self.run.job.ended

    @property
    def state(self) -> str:
        if self.run.job is not None and self.active:
            return str(self.run.job.state)
        return "interrupted" if self.unfinished else "finished"

    @property
    def unfinished(self) -> bool:
        return bool(self.pending or self.run.to_write)

    @property
    def priced(self) -> bool:
        return self.run.price_in is not None

    @property
    def parts(self) -> list[tuple[str, int, str]]:
        """Return (label, count, tone) of every outcome, for a bar in parts."""
        return [
            ("answered", self.done, "done"),
            ("declined", self.declined, "waiting"),
            ("failed", self.failed, "bad"),
        ]


@dataclass(frozen=True)
class ServedModel:
    """A model that an endpoint said it served, and since when."""

    name: str
    fingerprint: str
    answers: int
    since: datetime | None


def lines_of(runs: Iterable[ProbeRun]) -> list[ProbeRunLine]:
    """Return these runs with their numbers, in two queries."""
    runs = list(runs)
    counts: dict[int, dict[str, int]] = {}
    cost: dict[int, Decimal] = {}
    rows = Answer.objects.filter(run__in=runs).order_by().values("run", "outcome")
    for row in rows.annotate(number=Count("pk"), cost=Sum("cost")):
        counts.setdefault(row["run"], {})[row["outcome"]] = row["number"]
        cost[row["run"]] = cost.get(row["run"], Decimal(0)) + (row["cost"] or Decimal(0))
    return [_line(run, counts.get(run.pk, {}), cost.get(run.pk, Decimal(0))) for run in runs]


def line_and_served_models(run: ProbeRun) -> tuple[ProbeRunLine, list[ServedModel]]:
    """Return a run with its numbers, and what the endpoint said it served, in the order in which it first said so.

    One query counts both: it reads an index alone.
    """
    rows = run.answers.order_by().values("outcome", "served_model", "fingerprint")
    counts: Counter[str] = Counter()
    cost, served = Decimal(0), []
    for row in rows.annotate(number=Count("pk"), cost=Sum("cost"), since=Min("finished_at")):
        counts[row["outcome"]] += row["number"]
        cost += row["cost"] or Decimal(0)
        if row["outcome"] == Outcome.DONE:
            served.append(ServedModel(row["served_model"], row["fingerprint"], row["number"], row["since"]))
    return _line(run, counts, cost), sorted(served, key=lambda model: str(model.since))


def _line(run: ProbeRun, counts: Mapping[str, int], spent: Decimal) -> ProbeRunLine:
    return ProbeRunLine(
        run=run,
        done=counts.get(Outcome.DONE, 0),
        declined=counts.get(Outcome.DECLINED, 0),
        failed=counts.get(Outcome.FAILED, 0),
        pending=counts.get(Outcome.PENDING, 0),
        spent=spent,
    )


def failure_reasons(run: ProbeRun) -> list[tuple[str, int]]:
    """Return why requests of a run failed, the most frequent reason first."""
    rows = run.answers.filter(outcome=Outcome.FAILED).order_by().values("reason")
    counted = rows.annotate(number=Count("pk")).order_by("-number", "reason")[:_MOST_REASONS]
    return [(row["reason"], row["number"]) for row in counted]
