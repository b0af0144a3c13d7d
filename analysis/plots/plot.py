"""Plots: a question, units, n, drawings in two widths, and the numbers shown."""

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
    """A plot. `wide` and `narrow` are SVG for large and small screens; `columns` and `rows` are its numbers.

    `spec` returns the same plot as a Vega-Lite specification with its data, from which files are drawn.
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
        """Return a plot with the wide and the narrow drawing; `columns` of `rows` are its numbers."""
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
