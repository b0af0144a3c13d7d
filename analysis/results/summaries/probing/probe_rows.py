"""The stored rows of models' answers that a page or the report shows, and the table made of some of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from analysis.plots.plot import Plot
from analysis.results.summaries.questions.estimate_tables import MOST_ROWS, NUMBER, EstimateRow, QuestionPart

Row = dict[str, Any]


@dataclass(frozen=True)
class ProbeTableRows:
    """Rows by table. `names`: groups by their names. `experiment` and `model` keep only rows of one."""

    table: Callable[[str], Sequence[Row]]
    names: Mapping[str, str]
    experiment: str = ""
    model: str = ""

    def of(self, name: str) -> list[Row]:
        """The rows of a table. A row about two models is kept for either of them."""
        return [
            row
            for row in self.table(name)
            if self.experiment in ("", row["experiment"])
            and self.model in ("", row["model"], row.get("other_model"))
        ]

    def about(self, experiment: str) -> "ProbeTableRows":
        return replace(self, experiment=experiment)

    def name_of(self, group: str) -> str:
        return self.names.get(group, group)


@dataclass(frozen=True, kw_only=True)
class PartWords:
    """The heading and the explanation of a table."""

    table: str
    title: str
    explanations: Sequence[str]
    value: str
    number: str
    heads: Sequence[str] = ()


def part_of(
    words: PartWords,
    lines: Sequence[EstimateRow],
    *,
    ends: tuple[float, float],
    plot: Plot | None,
    kind: str = NUMBER,
    reference: float | None = 0.0,
) -> QuestionPart:
    """A table of estimates with its plot; rows beyond `MOST_ROWS` are only in the file."""
    return QuestionPart(
        table=words.table,
        title=words.title,
        explanations=words.explanations,
        value_words=words.value,
        number_words=words.number,
        kind=kind,
        ends=ends,
        reference=reference,
        lines=lines[:MOST_ROWS],
        heads=words.heads,
        plot=plot,
        left_to_file=max(len(lines) - MOST_ROWS, 0),
    )
