"""Charts of estimates with intervals, one per line."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.plots.axis import Axis
from analysis.plots.plot import NARROW, WIDE
from analysis.plots.svg import Svg, shortened
from foundation.formats import format_number, format_percent, reason_text

LINE_WIDE, LINE_NARROW, GAP = 22.0, 40.0, 30.0
TOP, BOTTOM = 6.0, 40.0
STEREOTYPE, RANDOM, PLAIN = "stereotype", "random", "plain"


@dataclass(frozen=True)
class Dot:
    """One estimate. A missing estimate is shown with its reason; an unbounded end is an arrow."""

    label: str
    low: float | None
    estimate: float | None
    high: float | None
    series: str = PLAIN
    reason: str | None = None

    def text(self, axis: Axis) -> str:
        """Return the numbers in words: `42 % (31 to 55)`."""
        if self.estimate is None:
            return f"— {reason_text(self.reason)}".strip()
        if axis.kind == "share":
            value, ends = format_percent(self.estimate), [_end(end, 100, 0) for end in (self.low, self.high)]
        else:
            digits = 0 if axis.kind == "count" else 2
            value = format_number(self.estimate, digits)
            ends = [_end(end, 1, digits) for end in (self.low, self.high)]
        return value if self.low is None and self.high is None else f"{value} ({ends[0]} to {ends[1]})"


@dataclass(frozen=True)
class Gap:
    """A gap for omitted lines, after the first `after` lines, with words about it."""

    after: int
    words: str


def dot_plot(dots: Sequence[Dot], axis: Axis, *, title: str, gap: Gap | None = None) -> tuple[str, str]:
    """Return the wide and the narrow drawing."""
    return _wide(dots, axis, title, gap), _narrow(dots, axis, title, gap)


def _wide(dots: Sequence[Dot], axis: Axis, title: str, gap: Gap | None) -> str:
    longest = max((len(dot.label) for dot in dots), default=8)
    x_left = min(250.0, 16 + 7.2 * longest)
    x_right = WIDE - 145
    svg = Svg(WIDE, title=title)
    tops, bottom = _tops(dots, LINE_WIDE, gap)
    _grid(svg, axis, x_left, x_right, TOP, bottom)
    for dot, top in zip(dots, tops, strict=True):
        y = top + LINE_WIDE / 2
        svg.words(x_left - 12, y + 4, shortened(dot.label, int((x_left - 16) / 7)), "plot-label", "end")
        _interval(svg, dot, axis, x_left, x_right, y)
        svg.words(WIDE, y + 4, dot.text(axis), "plot-value", "end")
    _write_gap(svg, gap, tops)
    svg.height = bottom + BOTTOM
    return svg.text()


def _narrow(dots: Sequence[Dot], axis: Axis, title: str, gap: Gap | None) -> str:
    svg = Svg(NARROW, title=title)
    x_left, x_right = 8.0, NARROW - 8
    tops, bottom = _tops(dots, LINE_NARROW, gap)
    _grid(svg, axis, x_left, x_right, TOP, bottom)
    for dot, y in zip(dots, tops, strict=True):
        svg.words(0, y + 13, shortened(dot.label, 24), "plot-label halo")
        svg.words(NARROW, y + 13, dot.text(axis), "plot-value halo", "end")
        _interval(svg, dot, axis, x_left, x_right, y + 27)
    _write_gap(svg, gap, tops)
    svg.height = bottom + BOTTOM
    return svg.text()


def _tops(dots: Sequence[Dot], line: float, gap: Gap | None) -> tuple[list[float], float]:
    """Return the upper edge of each line, and the lower edge of the last line."""
    after, height = (gap.after, GAP) if gap else (len(dots), 0.0)
    tops = [TOP + line * index + (height if index >= after else 0.0) for index in range(len(dots))]
    return tops, TOP + line * len(dots) + height


def _write_gap(svg: Svg, gap: Gap | None, tops: Sequence[float]) -> None:
    """Draw a band that covers the grid and says how many lines are left out."""
    if gap is not None:
        y = tops[gap.after] - GAP
        svg.add("rect", x=0, y=y + 2, width=svg.width, height=GAP - 4, class_="plot-gap")
        svg.words(svg.width / 2, y + GAP / 2 + 4, gap.words, "plot-tick", "middle")


def _grid(svg: Svg, axis: Axis, x_left: float, x_right: float, top: float, bottom: float) -> None:
    for tick in axis.ticks():
        x = x_left + axis.place(tick) * (x_right - x_left)
        svg.line(x, top, x, bottom, "plot-reference" if tick == axis.reference else "plot-grid")
        svg.words(x, bottom + 15, axis.write(tick), "plot-tick", anchor_within(x, svg.width))
    svg.line(x_left, bottom, x_right, bottom, "plot-axis")
    if axis.label:
        svg.words((x_left + x_right) / 2, bottom + 32, axis.label, "plot-tick", "middle")


def anchor_within(x: float, width: float) -> str:
    """Return the text anchor that keeps a label within the drawing."""
    return "start" if x < 16 else "end" if x > width - 16 else "middle"


def _interval(svg: Svg, dot: Dot, axis: Axis, x_left: float, x_right: float, y: float) -> None:
    def place(value: float) -> float:
        return x_left + axis.place(value) * (x_right - x_left)

    if dot.estimate is None:
        return
    unbounded = dot.low is not None and dot.high is None
    if dot.low is not None:
        high = axis.high if dot.high is None else dot.high
        svg.line(place(dot.low), y, place(high), y, f"plot-span {dot.series}")
        if unbounded or high > axis.high:
            _beyond(svg, x_right, y, dot, 1)
        if dot.low < axis.low:
            _beyond(svg, x_left, y, dot, -1)
    if axis.low <= dot.estimate <= axis.high:
        mark(svg, place(dot.estimate), y, dot.series)
    else:
        _beyond(
            svg, x_left if dot.estimate < axis.low else x_right, y, dot, -1 if dot.estimate < axis.low else 1
        )


def _beyond(svg: Svg, x: float, y: float, dot: Dot, way: int) -> None:
    """Draw an arrow at the end of the axis for a value beyond it; `way` is 1 or -1."""
    path = f"M{x - 6 * way:.1f} {y - 4:.1f} l{7 * way} 4 l{-7 * way} 4 z"
    svg.add("path", d=path, class_=f"plot-beyond {dot.series}")


def mark(svg: Svg, x: float, y: float, series: str) -> None:
    """Draw a hollow square for random attributes and a filled circle for all other series."""
    if series == RANDOM:
        svg.add("rect", x=x - 4, y=y - 4, width=8, height=8, class_="plot-mark random")
    else:
        svg.add("circle", cx=x, cy=y, r=4.5, class_=f"plot-mark {series}")


def _end(value: float | None, times: int, digits: int) -> str:
    return "∞" if value is None else format_number(value * times, digits)
