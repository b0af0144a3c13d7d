"""Bars to either side of nothing, each with its interval."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from analysis.plots.axis import Axis
from analysis.plots.charts.dots import anchor_within
from analysis.plots.plot import NARROW, WIDE
from analysis.plots.svg import Svg
from foundation.formats import format_number, reason_text

LINE_WIDE, LINE_NARROW, TOP, BOTTOM = 24.0, 42.0, 22.0, 40.0


@dataclass(frozen=True)
class Leaning:
    """One line: to which side it leans and how far. A missing estimate is said with its reason."""

    label: str
    low: float | None
    estimate: float | None
    high: float | None
    reason: str | None = None


def leaning_plot(
    lines: Sequence[Leaning], axis: Axis, sides: tuple[str, str], *, title: str
) -> tuple[str, str]:
    """Return the wide and the narrow drawing. `sides` name what lies below and above 0."""
    return (
        _drawing(lines, axis, sides, title, WIDE, LINE_WIDE),
        _drawing(lines, axis, sides, title, NARROW, LINE_NARROW),
    )


def _drawing(
    lines: Sequence[Leaning], axis: Axis, sides: tuple[str, str], title: str, width: float, line: float
) -> str:
    svg = Svg(width, title=title)
    narrow = width == NARROW
    longest = max((len(one.label) for one in lines), default=8)
    left = 8.0 if narrow else min(210.0, 16 + 7.2 * longest)
    right = width - (8 if narrow else 145)
    bottom = TOP + line * len(lines)

    def place(value: float) -> float:
        return left + axis.place(value) * (right - left)

    svg.words(place(0) - 8, 13, f"← {sides[0]}", "plot-tick", "end")
    svg.words(place(0) + 8, 13, f"{sides[1]} →", "plot-tick")
    for tick in axis.ticks():
        svg.line(place(tick), TOP, place(tick), bottom, "plot-grid")
        svg.words(place(tick), bottom + 15, axis.write(tick), "plot-tick", anchor_within(place(tick), width))
    for index, one in enumerate(lines):
        y = TOP + line * index
        if narrow:
            svg.words(0, y + 14, one.label, "plot-label halo")
            svg.words(width, y + 14, said(one), "plot-value halo", "end")
        else:
            svg.words(left - 12, y + 16, one.label, "plot-label", "end")
            svg.words(width, y + 16, said(one), "plot-value", "end")
        _bar(svg, one, place, y + (30 if narrow else line / 2))
    svg.line(place(0), TOP, place(0), bottom, "plot-axis")
    svg.words((left + right) / 2, bottom + 32, axis.label, "plot-tick", "middle")
    svg.height = bottom + BOTTOM
    return svg.text()


def _bar(svg: Svg, one: Leaning, place: Callable[[float], float], y: float) -> None:
    if one.estimate is None:
        return
    start, end = sorted((place(0), place(one.estimate)))
    side = "above" if one.estimate > 0 else "below"
    svg.add("rect", x=start, y=y - 7, width=end - start, height=14.0, class_=f"plot-bar {side}")
    if one.low is not None and one.high is not None:
        svg.line(place(one.low), y, place(one.high), y, "plot-whisker")


def said(one: Leaning) -> str:
    """The numbers of a line: `0.42 [0.31, 0.55]`."""
    if one.estimate is None:
        return f"— {reason_text(one.reason)}".strip()
    value = format_number(one.estimate, 3, signed=True)
    if one.low is None or one.high is None:
        return value
    return f"{value} [{format_number(one.low, 3)}, {format_number(one.high, 3)}]"
