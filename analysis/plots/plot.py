"""What every plot has: the question it answers, units, how many it rests on, two widths, and its numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

WIDE, NARROW = 600.0, 340.0


@dataclass(frozen=True)
class Plot:
    """`wide` and `narrow` are one plot for a desk and for a phone; `columns` and `rows` are what it shows.

    `spec` returns the same plot as a Vega-Lite specification with the data inside: what files are drawn from.
    """

    name: str
    title: str
    units: str
    n: int
    wide: str
    narrow: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    spec: Callable[[], dict[str, Any]]
    legend: Sequence[tuple[str, str]] = field(default_factory=tuple)
