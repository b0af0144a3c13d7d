"""Totals of a run by outcome, with costs and served models, read from counts that the database keeps."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from django.db.models import Sum

from generation.models import Answer, AnswerCount, ProbeRun

Outcome = Answer.Outcome
STEP = Decimal("0.00000001")  # as the column of an answer's cost


@dataclass(frozen=True)
class RunCounts:
    """Answers of a run by outcome, and their total cost."""

    by_outcome: Mapping[str, int] = field(default_factory=Counter)
    spent: Decimal = Decimal(0)

    @property
    def total(self) -> int:
        return sum(self.by_outcome.values())

    @property
    def pending(self) -> int:
        return self.by_outcome.get(Outcome.PENDING, 0)

    @property
    def ended(self) -> int:
        return self.total - self.pending


@dataclass(frozen=True)
class ServedModel:
    """A model that an endpoint named in its replies, and since when."""

    name: str
    fingerprint: str
    answers: int
    since: datetime | None


def counts_by_run(runs: Iterable[ProbeRun]) -> dict[int, RunCounts]:
    """Return the counts of each of these runs, in one query."""
    numbers: dict[int, Counter[str]] = {}
    costs: Counter[int] = Counter()
    rows = AnswerCount.objects.filter(run__in=list(runs)).order_by().values("run", "outcome")
    for row in rows.annotate(answers=Sum("number"), cost=Sum("cost_e8")):
        numbers.setdefault(row["run"], Counter())[row["outcome"]] = int(row["answers"])
        costs[row["run"]] += int(row["cost"])
    return {run: RunCounts(counts, costs[run] * STEP) for run, counts in numbers.items()}


def counts_of(run: ProbeRun) -> RunCounts:
    """Return the counts of one run."""
    return counts_by_run([run]).get(run.pk, RunCounts())


def served_models(run: ProbeRun, *, most: int) -> list[ServedModel]:
    """Return the models that the endpoint named, at most `most`, in the order of their first occurrence."""
    rows = run.counts.filter(outcome=Outcome.DONE, number__gt=0).order_by("since", "pk")
    return [ServedModel(row.served_model, row.fingerprint, row.number, row.since) for row in rows[:most]]
