"""The parts of a question's page: tables of estimates with intervals, some with a plot."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from analysis.plots.plot import Plot
from analysis.results.questions.registry import MEASURES
from annotation.kinds.questions import Question, ScaleQuestion
from generation.models import Condition

Row = dict[str, Any]
SHARE, NUMBER = "share", "number"
MOST_ROWS = 100
FEW_ROWS = 10


@dataclass(frozen=True)
class EstimateRow:
    """One row: its subject, the estimate with its interval, and further cells as text."""

    label: str
    value: float | None
    low: float | None
    high: float | None
    reason: str | None
    number: int | None
    cells: Sequence[str] = ()

    @classmethod
    def of(
        cls, row: Row, estimate: str, *, label: str, number: int | None, cells: Sequence[str] = ()
    ) -> Self:
        """Return the row of an estimate whose interval and reason are in the columns that most tables have."""
        return cls(label, row[estimate], row["ci_low"], row["ci_high"], row["reason"], number, cells)


@dataclass(frozen=True)
class QuestionPart:
    """A table of a question. `ends` are those of the axis that intervals are drawn on."""

    table: str
    title: str
    explanations: Sequence[str]
    value_words: str
    number_words: str
    kind: str
    ends: tuple[float, float]
    lines: Sequence[EstimateRow]
    reference: float | None = None
    heads: Sequence[str] = ()
    plot: Plot | None = None
    left_to_file: int = 0

    @property
    def filter_label(self) -> str:
        """The label of the box that filters the rows; a short table has none."""
        return f"Filter “{self.title}”" if len(self.lines) > FEW_ROWS else ""

    @property
    def digits(self) -> int:
        return 3 if self.table == "question_agreement" else 2


@dataclass(frozen=True)
class QuestionSource:
    """The rows of a question by table, its declaration, its measures, and the names of groups."""

    rows: Callable[[str], list[Row]]
    question: Question
    measures: Sequence[str]
    names: Mapping[str, str]

    @property
    def label(self) -> str:
        return self.question.label["en"]


def explanations_of(source: QuestionSource, table: str) -> list[str]:
    return [
        f"{MEASURES[name].title}: {MEASURES[name].explanation}"
        for name in source.measures
        if MEASURES[name].table == table
    ]


def differences_part(
    source: QuestionSource,
    table: str,
    lines: list[EstimateRow],
    explanations: Sequence[str],
    number_words: str,
) -> QuestionPart:
    shares = table == "question_differences" and not isinstance(source.question, ScaleQuestion)
    largest = [abs(end) for line in lines for end in (line.low, line.high, line.value) if end]
    most = min(1.0, max([0.1, *largest])) if shares else max([1.0, *largest])
    return QuestionPart(
        table=table,
        title="Differences",
        explanations=explanations,
        value_words="Difference",
        number_words=number_words,
        kind=NUMBER,
        ends=(-most, most),
        reference=0.0,
        lines=lines[:MOST_ROWS],
        heads=("Difference shown",),
        left_to_file=max(len(lines) - MOST_ROWS, 0),
    )


def whether_distinct(row: Row) -> str:
    return "—" if row["distinct"] is None else "yes" if row["distinct"] else "no"


def other_condition(line: Row) -> str:
    """The condition of a campaign's images, if it is not the default."""
    condition = line.get("condition", Condition.DEFAULT)  # reports of earlier versions do not contain it
    return "" if condition == Condition.DEFAULT else str(Condition(condition).label)
