"""What every plot has: the question it answers, its units, n, two widths, and its numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WIDE, NARROW = 600.0, 340.0
Row = Mapping[str, Any]
Spec = Callable[[], dict[str, Any]]


@dataclass(frozen=True)
class Heading:
    """The heading of a plot: the name of its files, its question, its units, and n."""

    name: str
    title: str
    units: str
    n: int


@dataclass(frozen=True)
class Plot(Heading):
    """`wide` and `narrow` are one plot for a desk and for a phone; `columns` and `rows` are what it shows.

    `spec` returns the same plot as a Vega-Lite specification with the data inside: what files are drawn from.
    """

    wide: str
    narrow: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    spec: Spec
    legend: Sequence[tuple[str, str]] = ()

    @classmethod
    def of(
        cls,
        heading: Heading,
        drawings: tuple[str, str],
        rows: Sequence[Row],
        columns: Sequence[str],
        spec: Spec,
        legend: Sequence[tuple[str, str]] = (),
    ) -> "Plot":
        """A plot with the wide and the narrow drawing; `columns` of `rows` are its numbers."""
        values = [[row[column] for column in columns] for row in rows]
        return cls(
            **vars(heading),
            wide=drawings[0],
            narrow=drawings[1],
            columns=columns,
            rows=values,
            spec=spec,
            legend=legend,
        )
