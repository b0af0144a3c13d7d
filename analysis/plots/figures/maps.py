"""The world map of a measure, and the ranked groups that have no place on it."""

import math
from collections.abc import Sequence

from analysis.plots.axis import Axis, nice_step, ratio_axis
from analysis.plots.charts.dots import Dot, dot_plot, said
from analysis.plots.figures.judgements import INTERVAL, MOST_LINES
from analysis.plots.maps.choropleth import Place, world_map
from analysis.plots.maps.country_values import MEASURES, Measure, Row
from analysis.plots.plot import Plot
from analysis.plots.vega.charts import dots_spec, map_spec

NOTHING = {"map-land": "no group of this study", "map-undefined": "a group whose value is not defined"}


def map_plot(measure: Measure, places: Sequence[Place], rows: Sequence[Row]) -> Plot:
    """The map; `rows` are the groups on it."""
    scale = measure.scale([place.value for place in places if place.value is not None])
    judgements = sum(row["judgements"] for row in rows)
    note = f"; {measure.note}" if measure.note else ""
    where = f"{_number(len(rows), 'group', 'groups')} in {_number(len(places), 'country', 'countries')}"
    units = f"{scale.label} · {where}{note}"
    columns = ("map_code", "identity_group", measure.column, *filter(None, (measure.low, measure.high)))
    return Plot(
        name=f"map-{measure.key}",
        title=measure.title,
        units=units,
        n=judgements,
        wide=world_map(places, scale, title=measure.title),
        narrow="",
        columns=(*columns, "judgements"),
        rows=[[row.get(column) for column in (*columns, "judgements")] for row in rows],
        spec=lambda: map_spec(
            places, scale, title=measure.title, subtitle=f"{units} · n = {judgements:,} judgements"
        ),
        legend=[*scale.legend(), *NOTHING.items()],
    )


def strip_plot(measure: Measure, rows: Sequence[Row], *, whole: bool) -> Plot:
    """Groups by value, largest first, with intervals; `whole`: they are all the groups there are."""
    rows = sorted(rows, key=lambda row: (row[measure.column] is None, -(row[measure.column] or 0)))
    shown = rows if len(rows) <= MOST_LINES else rows[: MOST_LINES // 2] + rows[-MOST_LINES // 2 :]
    dots = [_dot(measure, row) for row in shown]
    axis = _axis(measure, dots)
    title = (
        measure.title.replace("Where are", "In which groups’ images are")
        if whole
        else "And the groups without a country?"
    )
    of = "95 % interval of θ" if measure.key == "theta" else INTERVAL if measure.low else measure.note
    units = f"{measure.words}, {of}"
    wide, narrow = dot_plot(dots, axis, title=title)
    columns = ("identity_group", measure.column, *filter(None, (measure.low, measure.high)), "judgements")
    return Plot(
        name=f"ranked-{measure.key}",
        title=title,
        units=units,
        n=sum(row["judgements"] for row in shown),
        wide=wide,
        narrow=narrow,
        columns=columns,
        rows=[[row.get(column) for column in columns] for row in shown],
        spec=lambda: dots_spec(dots, axis, [said(dot, axis) for dot in dots], title=title, subtitle=units),
    )


def _number(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _dot(measure: Measure, row: Row) -> Dot:
    value = row[measure.column]
    reason = row.get(f"{measure.key}_reason")
    low, high = (row.get(end) if value is not None else None for end in (measure.low, measure.high))
    return Dot(row["name"], low, value, high, reason=reason)


def _axis(measure: Measure, dots: Sequence[Dot]) -> Axis:
    values = [value for dot in dots for value in (dot.low, dot.estimate, dot.high) if value is not None]
    if measure.key == "theta":
        return ratio_axis(values, measure.words)
    low, high = min([0.0, *values]), max(values, default=1.0) or 1.0
    step = nice_step((high - low) / 4)
    return Axis(
        math.floor(low / step) * step,
        math.ceil(high / step) * step,
        "number" if measure.digits else "count",
        reference=0.0 if low < 0 else None,
        label=measure.words,
    )


def measure_named(key: str) -> Measure:
    """The measure of the address, else the first."""
    return MEASURES.get(key, MEASURES["theta"])
