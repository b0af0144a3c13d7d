"""Progress, outcomes and cost of the probe runs of a study."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count

from generation.answerers import ANSWERERS
from generation.models import Answer, ProbeRun
from generation.pages.probing.forms import PARAMETERS
from generation.probing.totals import RunCounts, counts_by_run

Outcome = Answer.Outcome
_MOST_REASONS = 20
MOST_FAILURES = 2_000  # number of newest failures whose reasons are counted


@dataclass(frozen=True)
class ProbeRunLine:
    """A probe run in the list."""

    run: ProbeRun
    counts: RunCounts

    @property
    def done(self) -> int:
        return self.counts.by_outcome.get(Outcome.DONE, 0)

    @property
    def declined(self) -> int:
        return self.counts.by_outcome.get(Outcome.DECLINED, 0)

    @property
    def failed(self) -> int:
        return self.counts.by_outcome.get(Outcome.FAILED, 0)

    @property
    def pending(self) -> int:
        return self.counts.pending

    @property
    def spent(self) -> Decimal:
        return self.counts.spent

    @property
    def total(self) -> int:
        return self.counts.total

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
    def askable(self) -> bool:
        """Whether the run has a model to ask; runs of imported answers have none."""
        return self.run.backend in ANSWERERS

    @property
    def priced(self) -> bool:
        return self.run.price_in is not None

    @property
    def parts(self) -> list[tuple[str, int, str]]:
        """Return (label, count, tone) of each outcome, for a segmented bar."""
        return [
            ("answered", self.done, "done"),
            ("declined", self.declined, "waiting"),
            ("failed", self.failed, "bad"),
        ]


def lines_of(runs: Iterable[ProbeRun]) -> list[ProbeRunLine]:
    """Return the runs with their counts, in two queries."""
    runs = list(runs)
    counts = counts_by_run(runs)
    return [ProbeRunLine(run, counts.get(run.pk, RunCounts())) for run in runs]


def failure_reasons(run: ProbeRun) -> list[tuple[str, int]]:
    """Return (reason, count) of a run's newest failures, the most frequent reason first."""
    failed = run.answers.filter(outcome=Outcome.FAILED).order_by("-pk").values("pk")[:MOST_FAILURES]
    rows = Answer.objects.filter(pk__in=failed).order_by().values("reason")
    counted = rows.annotate(number=Count("pk")).order_by("-number", "reason")[:_MOST_REASONS]
    return [(row["reason"], row["number"]) for row in counted]


def parameter_words(run: ProbeRun) -> list[tuple[str, str]]:
    """Return the parameters of a run as (label, value in words), in the order of the form."""
    declared = PARAMETERS[run.backend].declarations() if run.backend in PARAMETERS else {}
    order = [*declared, *sorted(run.parameters.keys() - declared.keys())]
    given = [(name, run.parameters[name]) for name in order if run.parameters.get(name) not in (None, "", {})]
    return [(declared[name].label if name in declared else name, _in_words(value)) for name, value in given]


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_in_words(part)}" for name, part in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
