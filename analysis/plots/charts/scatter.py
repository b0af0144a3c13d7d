"""Scatter plots with intervals; series have different shapes."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from analysis.plots.axis import Axis, nice_step
from analysis.plots.charts.dots import anchor_within
from analysis.plots.plot import NARROW, WIDE
from analysis.plots.svg import Svg

# Shapes in order of use; colours differ too, but the shape alone identifies a series.
FORMS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right", "stroke")
OTHERS = "others"
MOST_NAMES = 14  # names beside points; if there are more points, the outermost get names
LEFT, RIGHT, TOP, BOTTOM = 52.0, 14.0, 10.0, 44.0
LEGEND_LINE, LETTER = 20.0, 6.6
# Maps the numbers of a point to its position.
_Place = Callable[[float, float], tuple[float, float]]


@dataclass(frozen=True)
class DataPoint:
    """An item: its two numbers, their intervals, and its series."""

    label: str
    x: float
    y: float
    series: str = ""
    x_low: float | None = None
    x_high: float | None = None
    y_low: float | None = None
    y_high: float | None = None
    says: str = ""


@dataclass(frozen=True)
class Field:
    """The two axes. `diagonal`: draw the line x = y; `joined`: connect the points of each series."""

    x: Axis
    y: Axis
    diagonal: bool = False
    label_points: bool = True
    joined: bool = False


def series_of(points: Sequence[DataPoint]) -> list[str]:
    """Return the sorted names of the series; if there are more than shapes, the last are `OTHERS`."""
    names = sorted({point.series for point in points})
    return names if len(names) <= len(FORMS) else [*names[: len(FORMS) - 1], OTHERS]


def form_of(series: Sequence[str], name: str) -> int:
    """Return the index in FORMS of a series' shape."""
    return series.index(name) if name in series else len(series) - 1


def scatter_plot(points: Sequence[DataPoint], field: Field, *, title: str) -> tuple[str, str]:
    """Return the wide and the narrow drawing."""
    return _drawing(points, field, title, WIDE, 400.0), _drawing(points, field, title, NARROW, 320.0)


def number_axis(values: Sequence[float], label: str, *, zero: bool = False, reference: bool = False) -> Axis:
    """Return an axis between round numbers around the values; `zero`: include 0; `reference`: mark 0."""
    extent = [*values, *([0.0] if zero else [])] or [0.0, 1.0]
    low, high = min(extent), max(extent)
    step = nice_step((high - low) / 4 or abs(high) / 4 or 0.25)
    low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    if low == high:
        low, high = low - step, high + step
    return Axis(low, high, "number", reference=0.0 if reference and low <= 0 <= high else None, label=label)


def _drawing(points: Sequence[DataPoint], field: Field, title: str, width: float, tall: float) -> str:
    svg = Svg(width, title=title)
    series = series_of(points)
    top = TOP + _legend(svg, series, width)
    right, bottom = width - RIGHT, top + tall - BOTTOM
    _grid(svg, field, right, top, bottom)

    def at(x: float, y: float) -> tuple[float, float]:
        return LEFT + field.x.place(x) * (right - LEFT), bottom - field.y.place(y) * (bottom - top)

    if field.joined:
        for here, following in pairwise(sorted(points, key=lambda point: (point.series, point.x))):
            if here.series == following.series:
                svg.line(*at(here.x, here.y), *at(following.x, following.y), "plot-axis")
    for point in points:
        _interval(svg, point, at)
    for point in points:
        form = form_of(series, point.series)
        svg.add("path", d=form_path(FORMS[form], *at(point.x, point.y)), class_=f"plot-point form-{form + 1}")
    if field.label_points:
        _names(svg, points, at, width)
    svg.height = bottom + BOTTOM
    return svg.text()


def _legend(svg: Svg, series: Sequence[str], width: float) -> float:
    """Draw the shapes with their names; return the height of the legend."""
    if len(series) < 2:
        return 0.0
    x, y = LEFT, 12.0
    for form, name in enumerate(series):
        words = name or "no region"
        wide = 22 + LETTER * len(words)
        if x > LEFT and x + wide > width:
            x, y = LEFT, y + LEGEND_LINE
        svg.add("path", d=form_path(FORMS[form], x + 5, y - 4), class_=f"plot-point form-{form + 1}")
        svg.words(x + 14, y, words, "plot-tick")
        x += wide
    return y + 8


def _grid(svg: Svg, field: Field, right: float, top: float, bottom: float) -> None:
    for tick in field.x.ticks():
        x = LEFT + field.x.place(tick) * (right - LEFT)
        svg.line(x, top, x, bottom, "plot-reference" if tick == field.x.reference else "plot-grid")
        svg.words(x, bottom + 16, field.x.write(tick), "plot-tick", anchor_within(x, svg.width))
    for tick in field.y.ticks():
        y = bottom - field.y.place(tick) * (bottom - top)
        svg.line(LEFT, y, right, y, "plot-reference" if tick == field.y.reference else "plot-grid")
        svg.words(LEFT - 6, y + 4, field.y.write(tick), "plot-tick", "end")
    if field.diagonal:
        low, high = max(field.x.low, field.y.low), min(field.x.high, field.y.high)
        ends = [
            (LEFT + field.x.place(end) * (right - LEFT), bottom - field.y.place(end) * (bottom - top))
            for end in (low, high)
        ]
        svg.line(*ends[0], *ends[1], "plot-reference")
    svg.line(LEFT, bottom, right, bottom, "plot-axis")
    svg.line(LEFT, top, LEFT, bottom, "plot-axis")
    svg.words((LEFT + right) / 2, bottom + 35, field.x.label, "plot-tick", "middle")
    middle = (top + bottom) / 2
    svg.add(
        "text", field.y.label, x=12.0, y=middle, class_="plot-tick", text_anchor="middle",
        transform=f"rotate(-90 12 {middle:.1f})",
    )  # fmt: skip


def _interval(svg: Svg, point: DataPoint, at: _Place) -> None:
    x, y = at(point.x, point.y)
    if point.y_low is not None:
        high = point.y_high if point.y_high is not None else math.inf
        svg.line(x, at(point.x, point.y_low)[1], x, at(point.x, high)[1], "plot-whisker")
    if point.x_low is not None:
        high = point.x_high if point.x_high is not None else math.inf
        svg.line(at(point.x_low, point.y)[0], y, at(high, point.y)[0], y, "plot-whisker")


def _names(svg: Svg, points: Sequence[DataPoint], at: _Place, width: float) -> None:
    """Write names beside the points furthest from the middle, unless they would cover another name."""
    places = [at(point.x, point.y) for point in points]
    occupied: list[tuple[float, float, float]] = []
    for index in furthest(points, places)[: MOST_NAMES * 2]:
        (x, y), words = places[index], points[index].label
        long = LETTER * len(words)
        to_left = x + 8 + long > width
        start = x - 8 - long if to_left else x + 8
        free = all(abs(y - ty) > 13 or start > end or start + long < begin for ty, begin, end in occupied)
        if not free or len(occupied) >= MOST_NAMES or start < LEFT:
            continue
        occupied.append((y, start, start + long))
        svg.words(x - 8 if to_left else x + 8, y + 4, words, "plot-name halo", "end" if to_left else "start")


def furthest(points: Sequence[DataPoint], places: Sequence[tuple[float, float]]) -> list[int]:
    """Return the indices of the points by distance from their mean position, largest first."""
    middle = (
        [sum(coordinates) / max(len(places), 1) for coordinates in zip(*places, strict=True)]
        if places
        else []
    )
    return sorted(range(len(points)), key=lambda i: (-math.dist(places[i], middle), points[i].label))


def form_path(form: str, x: float, y: float, size: float = 5.0) -> str:
    """Return the SVG path of a shape around a position."""
    r = size
    corners = {
        "square": [(-r, -r), (r, -r), (r, r), (-r, r)],
        "diamond": [(0, -r * 1.3), (r * 1.3, 0), (0, r * 1.3), (-r * 1.3, 0)],
        "triangle-up": [(0, -r * 1.2), (r * 1.15, r), (-r * 1.15, r)],
        "triangle-down": [(0, r * 1.2), (r * 1.15, -r), (-r * 1.15, -r)],
        "triangle-right": [(r * 1.2, 0), (-r, r * 1.15), (-r, -r * 1.15)],
        "stroke": [(-r * 1.3, -r / 2), (r * 1.3, -r / 2), (r * 1.3, r / 2), (-r * 1.3, r / 2)],
        "cross": [
            (-r / 3, -r), (r / 3, -r), (r / 3, -r / 3), (r, -r / 3), (r, r / 3), (r / 3, r / 3),
            (r / 3, r), (-r / 3, r), (-r / 3, r / 3), (-r, r / 3), (-r, -r / 3), (-r / 3, -r / 3),
        ],
    }  # fmt: skip
    if form == "circle":
        return f"M{x - r:.1f} {y:.1f} a{r:g} {r:g} 0 1 0 {2 * r:g} 0 a{r:g} {r:g} 0 1 0 {-2 * r:g} 0 z"
    points = " L".join(f"{x + dx:.1f} {y + dy:.1f}" for dx, dy in corners[form])
    return f"M{points} z"
