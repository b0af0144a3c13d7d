"""Vega-Lite specifications of plots, with their data, for editing and for SVG and PNG files.

Pages draw the plots without them (docs/develop/decisions/0009); altair is imported only to make a file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from analysis.plots.axis import Axis
from analysis.plots.charts.scatter import FORMS, MOST_NAMES, furthest
from analysis.plots.colours import light
from analysis.plots.maps.world import ANTARCTICA, HEIGHT, PROJECTION, WIDTH, countries, topology
from foundation.formats import format_percent

if TYPE_CHECKING:  # takes half a second to import
    from analysis.plots.charts.bars import Bar
    from analysis.plots.charts.diverging_bars import DivergingBar
    from analysis.plots.charts.dots import Dot, Gap
    from analysis.plots.charts.heat_map import HeatCell
    from analysis.plots.charts.scatter import DataPoint, Field
    from analysis.plots.maps.choropleth import CountryValue, Scale

FONT = "Liberation Sans, DejaVu Sans, sans-serif"
LINE = 22


def dots_spec(
    dots: Sequence["Dot"], axis: Axis, *, title: str, subtitle: str, gap: "Gap | None" = None
) -> dict[str, Any]:
    """Specify points with intervals as lines; an unbounded end or an end beyond the axis is an arrow."""
    import altair as alt

    rows = [asdict(dot) | {"says": dot.text(axis)} | _within(dot, axis) for dot in dots]
    colours = light()
    order = [row["label"] for row in rows]
    if gap is not None:
        order.insert(gap.after, f"… {gap.words} …")
        rows.insert(gap.after, {"label": order[gap.after], "says": ""})
    tick_format = "%" if axis.kind == "share" else "~g"
    scale = alt.Scale(
        domain=[axis.low, axis.high], type="log" if axis.kind == "ratio" else "linear", nice=False
    )
    series = alt.Color(
        "series:N",
        legend=None,
        scale=alt.Scale(
            domain=["stereotype", "plain", "random"],
            range=[
                colours["series-listed"],
                colours["series-listed"],
                colours["series-random"],
            ],
        ),
    )
    shape = alt.Shape(
        "series:N",
        legend=None,
        scale=alt.Scale(domain=["stereotype", "plain", "random"], range=["circle", "circle", "square"]),
    )
    x_axis = alt.Axis(format=tick_format, values=axis.ticks(), title=axis.label)
    base = alt.Chart(alt.NamedData(name="rows")).encode(
        y=alt.Y(
            "label:N",
            sort=order,
            title=None,
            axis=alt.Axis(ticks=False, domain=False, labelLimit=240, labelPadding=10),
        )
    )
    x = alt.X("at:Q", scale=scale, axis=x_axis)
    layers = [
        base.mark_rule(strokeWidth=2).encode(
            x=alt.X("from:Q", scale=scale, axis=x_axis), x2="to:Q", color=series
        ),
        base.transform_filter("datum.beyond_high")
        .mark_point(shape="triangle-right", filled=True, opacity=1)
        .encode(x=alt.datum(axis.high), color=series),
        base.transform_filter("datum.beyond_low")
        .mark_point(shape="triangle-left", filled=True, opacity=1)
        .encode(x=alt.datum(axis.low), color=series),
        base.mark_point(filled=True, size=64, opacity=1).encode(
            x=x, color=series, shape=shape, description="says:N", tooltip="says:N"
        ),
        base.mark_text(align="right", color=colours["ink"]).encode(x=alt.value(540), text="says:N"),
    ]
    if axis.reference is not None:
        line = alt.Chart(alt.NamedData(name="reference"))
        dashed = line.mark_rule(strokeDash=[3, 3], color=colours["ink-soft"])
        layers.insert(0, dashed.encode(x=alt.X("at:Q", scale=scale, axis=x_axis)))
    data = {"rows": rows, "reference": [{"at": axis.reference}]}
    size = {"width": 380, "height": LINE * max(len(rows), 1)}
    return _finish(alt.layer(*layers), data, title, subtitle, size)


def _within(dot: "Dot", axis: Axis) -> dict[str, Any]:
    """Return the parts of an estimate and its interval that lie on the axis."""

    def inside(value: float | None) -> float | None:
        return None if value is None else min(max(value, axis.low), axis.high)

    unbounded = dot.low is not None and dot.high is None
    ends = [value for value in (dot.low, dot.estimate, dot.high) if value is not None]
    return {
        "at": dot.estimate if dot.estimate is None or axis.low <= dot.estimate <= axis.high else None,
        "from": inside(dot.low),
        "to": axis.high if unbounded else inside(dot.high),
        "beyond_high": unbounded or any(end > axis.high for end in ends),
        "beyond_low": any(end < axis.low for end in ends),
    }


def bars_spec(bars: Sequence["Bar"], axis: Axis, *, title: str, subtitle: str) -> dict[str, Any]:
    """Specify bars of shares: the looser as a light bar, the stricter inside it."""
    import altair as alt

    rows = [
        asdict(bar)
        | {"says": " · ".join(format_percent(share) for share in (bar.outer, bar.inner) if share is not None)}
        for bar in bars
    ]
    colours = light()
    base = alt.Chart(alt.NamedData(name="rows")).encode(
        y=alt.Y("label:N", sort=[bar.label for bar in bars], title=None, axis=alt.Axis(ticks=False))
    )
    scale = alt.Scale(domain=[axis.low, axis.high], nice=False)
    x_axis = alt.Axis(format="%", values=axis.ticks(), title=axis.label)
    outer = {"color": colours["accent-soft"], "stroke": colours["series-listed"]}
    layers = [
        base.mark_bar(**outer).encode(x=alt.X("outer:Q", scale=scale, axis=x_axis), tooltip="says:N"),
        base.mark_bar(color=colours["series-listed"], size=9).encode(x=alt.X("inner:Q", scale=scale)),
        base.mark_text(align="right", color=colours["ink"]).encode(x=alt.value(490), text="says:N"),
    ]
    size = {"width": 380, "height": 30 * max(len(rows), 1)}
    return _finish(alt.layer(*layers), {"rows": rows}, title, subtitle, size)


def map_spec(
    places: Sequence["CountryValue"], scale: "Scale", *, title: str, subtitle: str
) -> dict[str, Any]:
    """Specify a map coloured by class; grey means no group, white means an undefined value."""
    import altair as alt

    country_by_code = {country.code: country for country in countries()}
    colours = light()
    rows = [
        {
            "id": country_by_code[place.code].id or None,
            "country": country_by_code[place.code].name,
            "value": place.value,
            "says": place.says,
            "longitude": country_by_code[place.code].longitude,
            "latitude": country_by_code[place.code].latitude,
        }
        for place in places
    ]
    fill = alt.Color(
        "value:Q",
        scale=alt.Scale(
            type="threshold", domain=list(scale.thresholds), range=[colours[name] for name in scale.colours]
        ),
        legend=alt.Legend(title=scale.label, orient="bottom", type="symbol", symbolType="square", columns=4),
    )
    line = {"stroke": colours["paper"], "strokeWidth": 0.5}
    undefined = {"fill": colours["surface"], "stroke": colours["line-strong"], "strokeWidth": 0.75}
    world = alt.NamedData(name="world", format=alt.TopoDataFormat(type="topojson", feature="countries"))
    shapes = alt.Chart(world)
    land = shapes.transform_filter(f"datum.id !== '{ANTARCTICA}'").mark_geoshape(
        fill=colours["map-land"], **line
    )
    joined = shapes.transform_lookup(
        lookup="id",
        from_=alt.LookupData(data=alt.NamedData(name="shaped"), key="id", fields=["value", "says"]),
    )
    small = alt.Chart(alt.NamedData(name="small")).encode(
        longitude="longitude:Q", latitude="latitude:Q", tooltip="says:N", description="says:N"
    )
    layers = [
        land,
        joined.transform_filter("isValid(datum.says) && !isValid(datum.value)")
        .mark_geoshape(**undefined)
        .encode(tooltip="says:N"),
        joined.transform_filter("isValid(datum.value)")
        .mark_geoshape(**line)
        .encode(color=fill, tooltip="says:N", description="says:N"),
        small.transform_filter("!isValid(datum.value)").mark_circle(size=40, opacity=1, **undefined),
        small.transform_filter("isValid(datum.value)")
        .mark_circle(size=40, opacity=1, **line)
        .encode(color=fill),
    ]
    data = {
        "world": topology(),
        "shaped": [row for row in rows if row["id"]],
        "small": [row for row in rows if not row["id"]],
    }
    chart = alt.layer(*layers).project(**PROJECTION)
    return _finish(chart, data, title, subtitle, {"width": WIDTH, "height": HEIGHT})


def scatter_spec(
    points: Sequence["DataPoint"], field: "Field", series: Sequence[str], *, title: str, subtitle: str
) -> dict[str, Any]:
    """Specify points with intervals; series have different shapes and colours."""
    import altair as alt

    places = [(field.x.place(point.x), field.y.place(point.y)) for point in points]
    labelled = set(furthest(points, places)[:MOST_NAMES])
    rows = [
        asdict(point)
        | {"series": point.series if point.series in series else series[-1], "named": index in labelled}
        for index, point in enumerate(points)
    ]
    colours = light()
    series_colours = [colours[f"label-{place % 5 + 1}"] for place in range(len(series))]
    x, y = _scale(field.x), _scale(field.y)
    base = alt.Chart(alt.NamedData(name="rows"))
    legend = alt.Legend(title=None) if len(series) > 1 else None
    across = alt.X("x:Q", scale=x, axis=_axis(field.x))
    upward = alt.Y("y:Q", scale=y, axis=_axis(field.y))
    rule = {"color": colours["ink-soft"], "strokeWidth": 1}
    layers = [
        base.transform_filter("isValid(datum.y_low)")
        .mark_rule(**rule)
        .encode(x=across, y=alt.Y("y_low:Q", scale=y, axis=_axis(field.y)), y2="y_high:Q"),
        base.transform_filter("isValid(datum.x_low)")
        .mark_rule(**rule)
        .encode(y=upward, x=alt.X("x_low:Q", scale=x, axis=_axis(field.x)), x2="x_high:Q"),
        base.mark_point(filled=True, size=70, opacity=1).encode(
            x=across,
            y=upward,
            color=alt.Color(
                "series:N", legend=legend, scale=alt.Scale(domain=list(series), range=series_colours)
            ),
            shape=alt.Shape(
                "series:N",
                legend=legend,
                scale=alt.Scale(domain=list(series), range=list(FORMS[: len(series)])),
            ),
            tooltip="says:N",
            description="says:N",
        ),
    ]
    if field.joined:
        layers.insert(
            0, base.mark_line(color=colours["ink-soft"]).encode(x=across, y=upward, detail="series:N")
        )
    if field.label_points:
        layers.append(
            base.transform_filter("datum.named")
            .mark_text(align="left", dx=7, fontSize=10, color=colours["ink"])
            .encode(x=across, y=upward, text="label:N")
        )
    data = {"rows": rows, "line": _line(field)}
    if data["line"]:
        dashed = alt.Chart(alt.NamedData(name="line")).mark_line(
            strokeDash=[3, 3], color=colours["ink-soft"], strokeWidth=1
        )
        layers.insert(0, dashed.encode(x=alt.X("x:Q", scale=x, axis=_axis(field.x)), y=upward))
    return _finish(alt.layer(*layers), data, title, subtitle, {"width": 460, "height": 360})


def diverging_bars_spec(
    bars: Sequence["DivergingBar"],
    axis: Axis,
    sides: tuple[str, str],
    *,
    title: str,
    subtitle: str,
) -> dict[str, Any]:
    """Specify bars to either side of 0, with intervals as lines."""
    import altair as alt

    rows = [asdict(bar) | {"says": bar.text} for bar in bars]
    colours = light()
    base = alt.Chart(alt.NamedData(name="rows")).encode(
        y=alt.Y("label:N", sort=[bar.label for bar in bars], title=None, axis=alt.Axis(ticks=False))
    )
    scale = alt.Scale(domain=[axis.low, axis.high], nice=False)
    x_axis = alt.Axis(values=axis.ticks(), title=f"← {sides[0]} · {axis.label} · {sides[1]} →")
    fill = alt.condition(
        "datum.estimate > 0", alt.value(colours["series-listed"]), alt.value(colours["label-2"])
    )
    layers = [
        base.mark_bar(size=14).encode(x=alt.X("estimate:Q", scale=scale, axis=x_axis), color=fill),
        base.transform_filter("isValid(datum.low)")
        .mark_rule(color=colours["ink"])
        .encode(x=alt.X("low:Q", scale=scale, axis=x_axis), x2="high:Q"),
        base.mark_text(align="right", color=colours["ink"]).encode(x=alt.value(560), text="says:N"),
    ]
    size = {"width": 380, "height": LINE * max(len(rows), 1)}
    return _finish(alt.layer(*layers), {"rows": rows}, title, subtitle, size)


def heat_map_spec(
    cells: Sequence["HeatCell"], scale: "Scale", *, title: str, subtitle: str
) -> dict[str, Any]:
    """Specify shares as coloured cells; with several grids, labels of rows name the grid."""
    import altair as alt

    several = len({cell.grid for cell in cells}) > 1
    rows = [
        asdict(cell) | {"text": cell.text, "label": f"{cell.grid} · {cell.row}" if several else cell.row}
        for cell in cells
    ]
    colours = light()
    columns = list(dict.fromkeys(cell.column for cell in cells))
    lines = list(dict.fromkeys(row["label"] for row in rows))
    base = alt.Chart(alt.NamedData(name="rows")).encode(
        x=alt.X("column:N", sort=columns, title=None, axis=alt.Axis(orient="top", labelAngle=-45)),
        y=alt.Y("label:N", sort=lines, title=None, axis=alt.Axis(ticks=False, labelLimit=320)),
        tooltip="says:N",
        description="says:N",
    )
    fill = alt.Color(
        "value:Q",
        scale=alt.Scale(
            type="threshold", domain=list(scale.thresholds), range=[colours[name] for name in scale.colours]
        ),
        legend=alt.Legend(
            title=scale.label, format=".0%", orient="bottom", type="symbol", symbolType="square", columns=3
        ),
    )
    border = {"stroke": colours["line"], "strokeWidth": 0.5}
    on_dark = alt.condition(
        f"datum.value >= {scale.thresholds[2]}", alt.value(colours["paper"]), alt.value(colours["ink"])
    )
    layers = [
        base.transform_filter("!isValid(datum.value)").mark_rect(fill=colours["surface"], **border),
        base.transform_filter("isValid(datum.value)").mark_rect(**border).encode(color=fill),
        base.mark_text(fontSize=11).encode(text="text:N", color=on_dark),
    ]
    size = {"width": 44 * len(columns), "height": LINE * len(lines)}
    return _finish(alt.layer(*layers), {"rows": rows}, title, subtitle, size)


def _scale(axis: Axis) -> Any:
    import altair as alt

    return alt.Scale(
        domain=[axis.low, axis.high],
        type="log" if axis.kind == "ratio" else "linear",
        nice=False,
        clamp=True,
    )


def _axis(axis: Axis) -> Any:
    import altair as alt

    return alt.Axis(
        values=axis.ticks(), title=axis.label, format="%" if axis.kind == "share" else "~g", grid=True
    )


def _line(field: "Field") -> list[dict[str, float]]:
    """Return the ends of the dashed line: x = y, or the reference of the y axis; [] for no line."""
    if field.diagonal:
        ends = (max(field.x.low, field.y.low), min(field.x.high, field.y.high))
        return [{"x": end, "y": end} for end in ends]
    if field.y.reference is not None:
        return [{"x": end, "y": field.y.reference} for end in (field.x.low, field.x.high)]
    return []


def _finish(
    chart: Any, data: Mapping[str, Any], title: str, subtitle: str, size: Mapping[str, int]
) -> dict[str, Any]:
    """Return the specification. The data are added last, because altair would validate every value."""
    import altair as alt

    colours = light()
    heading = alt.TitleParams(text=title, subtitle=subtitle, anchor="start", offset=14)
    text: Mapping[str, Any] = {"labelColor": colours["ink-soft"], "titleColor": colours["ink-soft"]}
    styled = (
        chart.properties(title=heading, background="#ffffff", padding=12, **size)
        .configure(font=FONT)
        .configure_view(stroke=None)
        .configure_axis(titleFontWeight="normal", gridColor=colours["line"], **text)
        .configure_axisY(labelColor=colours["ink"], labelFontSize=12, grid=False)
        .configure_title(color=colours["ink"], subtitleColor=colours["ink-soft"], fontSize=15)
        .configure_legend(titleFontWeight="normal", titleLimit=400, **text)
    )
    described: dict[str, Any] = styled.to_dict()
    return described | {"datasets": data, "description": f"{title} {subtitle}"}
