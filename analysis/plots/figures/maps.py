"""The world map of a measure, and a ranking of groups that cannot be placed on it."""

import math
from collections.abc import Sequence

from analysis.plots.axis import Axis, nice_step, ratio_axis
from analysis.plots.charts.dots import Dot
from analysis.plots.figures.judgements import INTERVAL, both_ends, estimates_plot
from analysis.plots.maps.choropleth import CountryValue, world_map
from analysis.plots.maps.country_values import MEASURES, MapMeasure
from analysis.plots.plot import Heading, Plot, Row
from analysis.plots.vega_lite import map_spec

NOTHING = {"map-land": "no group of this study", "map-undefined": "a group whose value is not defined"}


def map_plot(measure: MapMeasure, places: Sequence[CountryValue], rows: Sequence[Row]) -> Plot:
    """Plot a measure on a world map; `rows` are the groups on it."""
    scale = measure.scale([place.value for place in places if place.value is not None])
    note = f"; {measure.note}" if measure.note else ""
    where = f"{_number(len(rows), 'group', 'groups')} in {_number(len(places), 'country', 'countries')}"
    heading = Heading(
        f"map-{measure.key}",
        measure.title,
        f"{scale.label} · {where}{note}",
        sum(row["judgements"] for row in rows),
    )
    subtitle = f"{heading.units} · n = {heading.n:,} judgements"
    return Plot.of(
        heading,
        (world_map(places, scale, title=measure.title), ""),
        rows,
        ("map_code", *_columns(measure)),
        lambda: map_spec(places, scale, title=measure.title, subtitle=subtitle),
        [*scale.legend(), *NOTHING.items()],
    )


def strip_plot(measure: MapMeasure, rows: Sequence[Row], *, whole: bool) -> Plot:
    """Plot groups by value, largest first, with intervals; `whole`: these are all groups of the study."""
    ordered = sorted(rows, key=lambda row: (row[measure.column] is None, -(row[measure.column] or 0)))
    lines = both_ends(ordered, measure.column)
    dots = [_dot(measure, row) for row in lines.rows]
    axis = _axis(measure, dots)
    question = measure.title.replace("Where are", "In which groups’ images are")
    interval = "95 % interval of θ" if measure.key == "theta" else INTERVAL if measure.low else measure.note
    where = "" if whole else "Groups that are not on the map · "
    heading = Heading(
        f"ranked-{measure.key}",
        question,
        f"{where}{measure.words}, {interval}{lines.note}",
        sum(row["judgements"] for row in ordered),
    )
    return estimates_plot(dots, axis, heading, lines, _columns(measure))


def _columns(measure: MapMeasure) -> tuple[str, ...]:
    return ("identity_group", measure.column, *filter(None, (measure.low, measure.high)), "judgements")


def _number(number: int, singular: str, plural: str) -> str:
    return f"{number:,} {singular if number == 1 else plural}"


def _dot(measure: MapMeasure, row: Row) -> Dot:
    value = row[measure.column]
    reason = row.get(f"{measure.key}_reason")
    low, high = (row.get(end) if value is not None else None for end in (measure.low, measure.high))
    return Dot(row["name"], low, value, high, reason=reason)


def _axis(measure: MapMeasure, dots: Sequence[Dot]) -> Axis:
    values = [value for dot in dots for value in (dot.low, dot.estimate, dot.high) if value is not None]
    if measure.key == "theta":
        return ratio_axis(values, measure.words, estimates=[dot.estimate for dot in dots])
    low, high = min([0.0, *values]), max(values, default=1.0) or 1.0
    step = nice_step((high - low) / 4)
    return Axis(
        math.floor(low / step) * step,
        math.ceil(high / step) * step,
        "number" if measure.digits else "count",
        reference=0.0 if low < 0 else None,
        label=measure.words,
    )


def measure_named(key: str) -> MapMeasure:
    """Return the measure with this key, or θ for an unknown key."""
    return MEASURES.get(key, MEASURES["theta"])
