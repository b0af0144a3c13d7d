"""The plots of automated measures: calibration, pull, MCAS, and automated θ beside people's."""

from collections.abc import Mapping, Sequence

from analysis.plots.axis import Axis, ratio_axis
from analysis.plots.charts.diverging_bars import DivergingBar, diverging_bar_plot
from analysis.plots.charts.scatter import DataPoint, Field, number_axis, scatter_plot, series_of
from analysis.plots.figures.judgements import INTERVAL
from analysis.plots.plot import Heading, Plot, Row
from analysis.plots.vega_lite import diverging_bars_spec, scatter_spec
from foundation.formats import format_number, format_percent

CALIBRATION = ("scorer", "model", "low", "high", "mean_score", "observed", "ci_low", "ci_high", "n")
PULL = ("identity_group", "s_s_ns", "s_d_s", "s_d_ns", "pull", "ci_low", "ci_high")
THETA = (
    "identity_group",
    "human_theta_smoothed",
    "automated_theta_smoothed",
    "human_theta",
    "automated_theta",
)
MCAS = ("target", "ii", "itp", "ita", "tt", "mcas", "ci_low", "ci_high", "effect_size", "p_value")


def calibration_plot(rows: Sequence[Row], names: Mapping[tuple[str, str], str]) -> Plot | None:
    """Plot the share of people who marked the attribute against the score, with the line x = y."""
    defined = [row for row in rows if row["mean_score"] is not None and row["observed"] is not None]
    if not defined:
        return None
    several = len({(row["scorer"], row["model"]) for row in defined}) > 1
    points = [
        DataPoint(
            format_number(row["n"]),
            row["mean_score"],
            row["observed"],
            names[row["scorer"], row["model"]] if several else "",
            y_low=row["ci_low"],
            y_high=row["ci_high"],
            says=f"score {format_percent(row['mean_score'])}, people {format_percent(row['observed'])}, "
            f"n = {row['n']:,}",
        )
        for row in defined
    ]
    field = Field(
        Axis(0.0, 1.0, "share", label="Mean score"),
        Axis(0.0, 1.0, "share", label="Share of people who marked it"),
        diagonal=True,
        label_points=False,
    )
    heading = Heading(
        "calibration",
        "Does a score of 60 % mean that 60 % of people see the attribute?",
        f"Scores in bins against the share of people, {INTERVAL}; dashed line: both equal",
        sum(row["n"] for row in defined),
    )
    return _scattered(points, field, heading, defined, CALIBRATION)


def pull_plot(rows: Sequence[Row], names: Mapping[str, str], regions: Mapping[str, str]) -> Plot | None:
    """Plot S(d,s) − S(d,ns) of each group against S(s,ns), by region."""
    defined = [row for row in rows if row["pull"] is not None and row["s_s_ns"] is not None]
    if not defined:
        return None
    points = [
        DataPoint(
            names.get(row["identity_group"], row["identity_group"]),
            row["s_s_ns"],
            row["pull"],
            regions.get(row["identity_group"], "") or "no region",
            y_low=row["ci_low"],
            y_high=row["ci_high"],
            says=f"pull {format_number(row['pull'], 3, signed=True)}",
        )
        for row in defined
    ]
    heights = [
        value
        for row in defined
        for value in (row["pull"], row["ci_low"], row["ci_high"])
        if value is not None
    ]
    field = Field(
        number_axis([row["s_s_ns"] for row in defined], "S(s, ns): stereotypical with others"),
        number_axis(heights, "Pull: S(d, s) − S(d, ns)", zero=True, reference=True),
    )
    heading = Heading(
        "pull",
        "Do images look stereotypical if the prompt contains no attribute?",
        f"Mean cosine similarity, {INTERVAL} of the pull; above 0: nearer to the stereotypical images",
        len(defined),
    )
    return _scattered(points, field, heading, defined, PULL)


def mcas_plot(rows: Sequence[Row], category: str, sides: tuple[str, str], reach: float) -> Plot | None:
    """Plot MCAS of a category's targets, largest (towards the first of `sides`) first."""
    targets = sorted(
        (row for row in rows if row["category"] == category),
        key=lambda row: (row["mcas"] is None, -(row["mcas"] or 0.0), row["target"]),
    )
    if not any(row["mcas"] is not None for row in targets):
        return None
    bars = [
        DivergingBar(row["target"], row["ci_low"], row["mcas"], row["ci_high"], row["reason"])
        for row in targets
    ]
    axis = number_axis([-reach, reach], "MCAS", zero=True)
    heading = Heading(
        "mcas",
        f"Towards which side do {category} lean?",
        f"MCAS, the sum of four association scores, {INTERVAL}",
        len(targets),
    )
    towards = (sides[1], sides[0])
    subtitle = f"{heading.units} · n = {len(targets)} targets"
    return Plot.of(
        heading,
        diverging_bar_plot(bars, axis, towards, title=heading.title),
        targets,
        MCAS,
        lambda: diverging_bars_spec(bars, axis, towards, title=heading.title, subtitle=subtitle),
    )


def reach_of(rows: Sequence[Row]) -> float:
    """Return the largest absolute value of MCAS and its intervals, or 1 if there is none."""
    ends = [abs(row[name]) for row in rows for name in ("mcas", "ci_low", "ci_high") if row[name] is not None]
    return max(ends, default=1.0) or 1.0


def theta_beside_plot(
    rows: Sequence[Row], names: Mapping[str, str], regions: Mapping[str, str]
) -> Plot | None:
    """Plot smoothed θ from a scorer's judgements against smoothed θ from people's."""
    defined = [
        row
        for row in rows
        if row["human_theta_smoothed"] is not None and row["automated_theta_smoothed"] is not None
    ]
    if not defined:
        return None
    points = [
        DataPoint(
            names.get(row["identity_group"], row["identity_group"]),
            row["human_theta_smoothed"],
            row["automated_theta_smoothed"],
            regions.get(row["identity_group"], "") or "no region",
            says=f"people {format_number(row['human_theta_smoothed'], 2)}, "
            f"machine {format_number(row['automated_theta_smoothed'], 2)}",
        )
        for row in defined
    ]
    values = [value for point in points for value in (point.x, point.y)]
    field = Field(
        ratio_axis(values, "θ smoothed by people, log scale"),
        ratio_axis(values, "θ smoothed by the machine, log scale"),
        diagonal=True,
    )
    heading = Heading(
        "automated-theta",
        "Do a machine and people find the same groups stereotyped?",
        "θ smoothed; dashed line: both equal",
        len(defined),
    )
    return _scattered(points, field, heading, defined, THETA)


def _scattered(
    points: Sequence[DataPoint], field: Field, heading: Heading, rows: Sequence[Row], columns: Sequence[str]
) -> Plot:
    return Plot.of(
        heading,
        scatter_plot(points, field, title=heading.title),
        rows,
        columns,
        lambda: scatter_spec(
            points,
            field,
            series_of(points),
            title=heading.title,
            subtitle=f"{heading.units} · n = {heading.n:,}",
        ),
    )
