"""The plots of automated measures as Vega-Lite: two numbers against each other, and bars to either side of nothing."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from analysis.plots.charts.scatter import MOST_NAMES, furthest
from analysis.plots.colours import light
from analysis.plots.vega.charts import LINE, finished

if TYPE_CHECKING:
    from analysis.plots.axis import Axis
    from analysis.plots.charts.diverging import Leaning
    from analysis.plots.charts.scatter import Field, Point

# Vega's names of the forms of analysis.plots.charts.scatter, in its order.
_SHAPES = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right", "stroke"]


def scatter_spec(
    points: Sequence["Point"], field: "Field", series: Sequence[str], *, title: str, subtitle: str
) -> dict[str, Any]:
    """Points with their intervals, the series told apart by form and colour."""
    import altair as alt

    places = [(field.x.place(point.x), field.y.place(point.y)) for point in points]
    named = set(furthest(points, places)[:MOST_NAMES])
    rows = [
        asdict(point)
        | {"series": point.series if point.series in series else series[-1], "named": index in named}
        for index, point in enumerate(points)
    ]
    colours = light()
    shown = [colours[f"label-{place % 5 + 1}"] for place in range(len(series))]
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
            color=alt.Color("series:N", legend=legend, scale=alt.Scale(domain=list(series), range=shown)),
            shape=alt.Shape(
                "series:N",
                legend=legend,
                scale=alt.Scale(domain=list(series), range=_SHAPES[: len(series)]),
            ),
            tooltip="says:N",
            description="says:N",
        ),
    ]
    if field.named:
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
    return finished(alt.layer(*layers), data, title, subtitle, {"width": 460, "height": 360})


def leaning_spec(
    lines: Sequence["Leaning"],
    axis: "Axis",
    sides: tuple[str, str],
    says: Sequence[str],
    *,
    title: str,
    subtitle: str,
) -> dict[str, Any]:
    """Bars to either side of 0, their intervals as lines."""
    import altair as alt

    rows = [asdict(one) | {"says": said} for one, said in zip(lines, says, strict=True)]
    colours = light()
    base = alt.Chart(alt.NamedData(name="rows")).encode(
        y=alt.Y("label:N", sort=[one.label for one in lines], title=None, axis=alt.Axis(ticks=False))
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
    return finished(alt.layer(*layers), {"rows": rows}, title, subtitle, size)


def _scale(axis: "Axis") -> Any:
    import altair as alt

    return alt.Scale(
        domain=[axis.low, axis.high],
        type="log" if axis.kind == "ratio" else "linear",
        nice=False,
        clamp=True,
    )


def _axis(axis: "Axis") -> Any:
    import altair as alt

    return alt.Axis(
        values=axis.ticks(), title=axis.label, format="%" if axis.kind == "share" else "~g", grid=True
    )


def _line(field: "Field") -> list[dict[str, float]]:
    """Where a dashed line is drawn: where both numbers are equal, or at the reference of the upward axis."""
    if field.diagonal:
        ends = (max(field.x.low, field.y.low), min(field.x.high, field.y.high))
        return [{"x": end, "y": end} for end in ends]
    if field.y.reference is not None:
        return [{"x": end, "y": field.y.reference} for end in (field.x.low, field.x.high)]
    return []
