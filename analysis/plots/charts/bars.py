"""Bar charts of shares, with a stricter share inside a looser share."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.plots.axis import Axis
from analysis.plots.charts.dots import anchor_within
from analysis.plots.plot import NARROW, WIDE
from analysis.plots.svg import Svg
from foundation.formats import format_percent

LINE_WIDE, LINE_NARROW, TOP, BOTTOM = 30.0, 48.0, 6.0, 40.0


@dataclass(frozen=True)
class Bar:
    """One bar: `outer` is the looser share (drawn hollow), `inner` the stricter share (filled)."""

    label: str
    outer: float | None
    inner: float | None = None


def bar_plot(bars: Sequence[Bar], axis: Axis, *, title: str) -> tuple[str, str]:
    """Return the wide and the narrow drawing."""
    return _drawing(bars, axis, title, WIDE, LINE_WIDE), _drawing(bars, axis, title, NARROW, LINE_NARROW)


def _drawing(bars: Sequence[Bar], axis: Axis, title: str, width: float, line: float) -> str:
    svg = Svg(width, title=title)
    narrow = width == NARROW
    longest = max((len(bar.label) for bar in bars), default=8)
    x_left = 8.0 if narrow else min(210.0, 16 + 7.2 * longest)
    x_right = width - (8 if narrow else 110)
    bottom = TOP + line * len(bars)
    for tick in axis.ticks():
        x = x_left + axis.place(tick) * (x_right - x_left)
        svg.line(x, TOP, x, bottom, "plot-grid")
        svg.words(x, bottom + 15, axis.write(tick), "plot-tick", anchor_within(x, width))
    for index, bar in enumerate(bars):
        y = TOP + line * index + (20 if narrow else 5)
        tall = 20.0
        for share, name in ((bar.outer, "plot-bar outer"), (bar.inner, "plot-bar inner")):
            if share:
                inset = 4 if name.endswith("inner") else 0
                svg.add(
                    "rect",
                    x=x_left,
                    y=y + inset,
                    width=axis.place(share) * (x_right - x_left),
                    height=tall - 2 * inset,
                    class_=name,
                )
        numbers = (
            " · ".join(format_percent(share) for share in (bar.outer, bar.inner) if share is not None) or "—"
        )
        if narrow:
            svg.words(0, y - 5, bar.label, "plot-label halo")
            svg.words(width, y - 5, numbers, "plot-value halo", "end")
        else:
            svg.words(x_left - 12, y + 14, bar.label, "plot-label", "end")
            svg.words(width, y + 14, numbers, "plot-value", "end")
    svg.line(x_left, TOP, x_left, bottom, "plot-axis")
    svg.words((x_left + x_right) / 2, bottom + 32, axis.label, "plot-tick", "middle")
    svg.height = bottom + BOTTOM
    return svg.text()
