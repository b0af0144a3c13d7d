"""Curves of a plan: power and width of its designs by the number of images."""

from collections.abc import Sequence

from analysis.plots.axis import Axis
from analysis.plots.charts.scatter import DataPoint, Field, number_axis, scatter_plot, series_of
from analysis.plots.plot import Heading, Plot, Row


def power_plot(rows: Sequence[Row]) -> Plot | None:
    """Plot the power of each design by images per group; `rows` have one measure."""
    heading = Heading("plan-power", "How likely does each design find the effect?", "", 0)
    axis = Axis(0.0, 1.0, "share", reference=0.8, label="Power: interval excludes 1")
    return _curve(rows, heading, axis, "power")


def width_plot(rows: Sequence[Row]) -> Plot | None:
    """Plot half the width of each design's interval by images per group."""
    widths = [row["half_width"] for row in rows if row["half_width"] is not None]
    heading = Heading("plan-width", "How wide will the interval be?", "", 0)
    return _curve(rows, heading, number_axis(widths, "± of the 95 % interval", zero=True), "half_width")


def _curve(rows: Sequence[Row], heading: Heading, axis: Axis, value: str) -> Plot | None:
    points = [
        DataPoint("", float(row["images"]), row[value], series=_series(row))
        for row in rows
        if row[value] is not None
    ]
    if len({point.x for point in points}) < 2:
        return None
    points.sort(key=lambda point: (point.series, point.x))
    field = Field(
        number_axis([point.x for point in points], "Images of each group", zero=True),
        axis,
        label_points=False,
        joined=True,
    )
    plotted = [{"images": p.x, "series": p.series, value: p.y} for p in points]

    def spec() -> dict[str, object]:
        from analysis.plots.vega_lite import scatter_spec

        return scatter_spec(points, field, series_of(points), title=heading.title, subtitle=heading.units)

    drawings = scatter_plot(points, field, title=heading.title)
    return Plot.of(heading, drawings, plotted, ["images", "series", value], spec)


def _series(row: Row) -> str:
    return f"{row['annotators']} annotators, {row['annotators_per_task']} an image"
