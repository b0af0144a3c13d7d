"""Charts of bars to either side of 0, with intervals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from analysis.plots.axis import Axis
from analysis.plots.charts.dots import anchor_within
from analysis.plots.plot import NARROW, WIDE
from analysis.plots.svg import Svg
from foundation.formats import format_number, reason_text

LINE_WIDE, LINE_NARROW, TOP, BOTTOM = 24.0, 42.0, 22.0, 40.0


@dataclass(frozen=True)
class DivergingBar:
    """One bar from 0 to the estimate. A missing estimate is shown with its reason."""

    label: str
    low: float | None
    estimate: float | None
    high: float | None
    reason: str | None = None

    @property
    def text(self) -> str:
        """The numbers in words: `+0.420 (0.310 to 0.550)`."""
        if self.estimate is None:
            return f"— {reason_text(self.reason)}".strip()
        value = format_number(self.estimate, 3, signed=True)
        if self.low is None or self.high is None:
            return value
        return f"{value} ({format_number(self.low, 3)} to {format_number(self.high, 3)})"


def diverging_bar_plot(
    bars: Sequence[DivergingBar], axis: Axis, sides: tuple[str, str], *, title: str
) -> tuple[str, str]:
    """Return the wide and the narrow drawing. `sides` names the sides below and above 0."""
    return (
        _drawing(bars, axis, sides, title, WIDE, LINE_WIDE),
        _drawing(bars, axis, sides, title, NARROW, LINE_NARROW),
    )


def _drawing(
    bars: Sequence[DivergingBar], axis: Axis, sides: tuple[str, str], title: str, width: float, line: float
) -> str:
    svg = Svg(width, title=title)
    narrow = width == NARROW
    longest = max((len(bar.label) for bar in bars), default=8)
    x_left = 8.0 if narrow else min(210.0, 16 + 7.2 * longest)
    x_right = width - (8 if narrow else 145)
    bottom = TOP + line * len(bars)

    def place(value: float) -> float:
        return x_left + axis.place(value) * (x_right - x_left)

    svg.words(place(0) - 8, 13, f"← {sides[0]}", "plot-tick", "end")
    svg.words(place(0) + 8, 13, f"{sides[1]} →", "plot-tick")
    for tick in axis.ticks():
        svg.line(place(tick), TOP, place(tick), bottom, "plot-grid")
        svg.words(place(tick), bottom + 15, axis.write(tick), "plot-tick", anchor_within(place(tick), width))
    for index, bar in enumerate(bars):
        y = TOP + line * index
        if narrow:
            svg.words(0, y + 14, bar.label, "plot-label halo")
            svg.words(width, y + 14, bar.text, "plot-value halo", "end")
        else:
            svg.words(x_left - 12, y + 16, bar.label, "plot-label", "end")
            svg.words(width, y + 16, bar.text, "plot-value", "end")
        _bar(svg, bar, place, y + (30 if narrow else line / 2))
    svg.line(place(0), TOP, place(0), bottom, "plot-axis")
    svg.words((x_left + x_right) / 2, bottom + 32, axis.label, "plot-tick", "middle")
    svg.height = bottom + BOTTOM
    return svg.text()


def _bar(svg: Svg, bar: DivergingBar, place: Callable[[float], float], y: float) -> None:
    if bar.estimate is None:
        return
    start, end = sorted((place(0), place(bar.estimate)))
    side = "above" if bar.estimate > 0 else "below"
    svg.add("rect", x=start, y=y - 7, width=end - start, height=14.0, class_=f"plot-bar {side}")
    if bar.low is not None and bar.high is not None:
        svg.line(place(bar.low), y, place(bar.high), y, "plot-whisker")
