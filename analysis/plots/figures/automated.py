"""The plots of what models say: calibration, stereotypical pull, composite association, and θ beside people's."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.plots.axis import Axis, ratio_axis
from analysis.plots.charts.diverging import Leaning, leaning_plot, said
from analysis.plots.charts.scatter import Field, Point, number_axis, scatter_plot, series_of
from analysis.plots.figures.judgements import INTERVAL
from analysis.plots.plot import Plot
from analysis.plots.vega.automated import leaning_spec, scatter_spec
from foundation.formats import format_number, format_percent

Row = Mapping[str, Any]
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
    """The share of people who saw the attribute, by score; a line where both are equal."""
    known = [row for row in rows if row["mean_score"] is not None and row["observed"] is not None]
    if not known:
        return None
    several = len({(row["scorer"], row["model"]) for row in known}) > 1
    points = [
        Point(
            format_number(row["n"]),
            row["mean_score"],
            row["observed"],
            names[row["scorer"], row["model"]] if several else "",
            y_low=row["ci_low"],
            y_high=row["ci_high"],
            says=f"score {format_percent(row['mean_score'])}, people {format_percent(row['observed'])}, "
            f"n = {row['n']:,}",
        )
        for row in known
    ]
    field = Field(
        Axis(0.0, 1.0, "share", label="Mean score"),
        Axis(0.0, 1.0, "share", label="Share of people who marked it"),
        diagonal=True,
        named=False,
    )
    return _scattered(
        points,
        field,
        name="calibration",
        title="Does a score of 60 % mean that 60 % of people see it?",
        units=f"Scores in classes against the share of people, {INTERVAL}; dashed line: both equal",
        n=sum(row["n"] for row in known),
        rows=known,
        columns=CALIBRATION,
    )


def pull_plot(rows: Sequence[Row], names: Mapping[str, str], regions: Mapping[str, str]) -> Plot | None:
    """S(d,s) − S(d,ns) of each group against S(s,ns), by region."""
    known = [row for row in rows if row["pull"] is not None and row["s_s_ns"] is not None]
    if not known:
        return None
    points = [
        Point(
            names.get(row["identity_group"], row["identity_group"]),
            row["s_s_ns"],
            row["pull"],
            regions.get(row["identity_group"], "") or "no region",
            y_low=row["ci_low"],
            y_high=row["ci_high"],
            says=f"pull {format_number(row['pull'], 3, signed=True)}",
        )
        for row in known
    ]
    heights = [
        value for row in known for value in (row["pull"], row["ci_low"], row["ci_high"]) if value is not None
    ]
    field = Field(
        number_axis([row["s_s_ns"] for row in known], "S(s, ns): stereotypical with others"),
        number_axis(heights, "Pull: S(d, s) − S(d, ns)", zero=True, reference=True),
    )
    return _scattered(
        points,
        field,
        name="pull",
        title="Are images without an attribute in the prompt drawn towards the stereotypical ones?",
        units=f"Mean cosine similarity, {INTERVAL} of the pull; above 0: towards the stereotypical",
        n=len(known),
        rows=known,
        columns=PULL,
    )


def mcas_plot(rows: Sequence[Row], category: str, sides: tuple[str, str], reach: float) -> Plot | None:
    """The composite score of every target of a category, the most leaning to B first."""
    mine = sorted(
        (row for row in rows if row["category"] == category),
        key=lambda row: (row["mcas"] is None, -(row["mcas"] or 0.0), row["target"]),
    )
    if not any(row["mcas"] is not None for row in mine):
        return None
    lines = [
        Leaning(row["target"], row["ci_low"], row["mcas"], row["ci_high"], row["reason"]) for row in mine
    ]
    axis = number_axis([-reach, reach], "MCAS", zero=True)
    title = f"Towards which side do {category} lean?"
    units = f"MCAS, the sum of four association scores, {INTERVAL}"
    wide, narrow = leaning_plot(lines, axis, (sides[1], sides[0]), title=title)
    return Plot(
        name="mcas",
        title=title,
        units=units,
        n=len(mine),
        wide=wide,
        narrow=narrow,
        columns=MCAS,
        rows=[[row[column] for column in MCAS] for row in mine],
        spec=lambda: leaning_spec(
            lines,
            axis,
            (sides[1], sides[0]),
            [said(one) for one in lines],
            title=title,
            subtitle=f"{units} · n = {len(mine)} targets",
        ),
    )


def reach_of(rows: Sequence[Row]) -> float:
    """How far MCAS and its intervals reach to either side, over all categories and models."""
    ends = [abs(row[name]) for row in rows for name in ("mcas", "ci_low", "ci_high") if row[name] is not None]
    return max(ends, default=1.0) or 1.0


def theta_beside_plot(
    rows: Sequence[Row], names: Mapping[str, str], regions: Mapping[str, str]
) -> Plot | None:
    """θ by the machine's judgements against θ by people's, both smoothed."""
    known = [
        row
        for row in rows
        if row["human_theta_smoothed"] is not None and row["automated_theta_smoothed"] is not None
    ]
    if not known:
        return None
    points = [
        Point(
            names.get(row["identity_group"], row["identity_group"]),
            row["human_theta_smoothed"],
            row["automated_theta_smoothed"],
            regions.get(row["identity_group"], "") or "no region",
            says=f"people {format_number(row['human_theta_smoothed'], 2)}, "
            f"machine {format_number(row['automated_theta_smoothed'], 2)}",
        )
        for row in known
    ]
    values = [value for point in points for value in (point.x, point.y)]
    field = Field(
        ratio_axis(values, "θ smoothed by people, log scale"),
        ratio_axis(values, "θ smoothed by the machine, log scale"),
        diagonal=True,
    )
    return _scattered(
        points,
        field,
        name="automated-theta",
        title="Does a machine find the same groups stereotyped as people do?",
        units="θ smoothed; dashed line: both equal",
        n=len(known),
        rows=known,
        columns=THETA,
    )


def _scattered(
    points: Sequence[Point],
    field: Field,
    *,
    name: str,
    title: str,
    units: str,
    n: int,
    rows: Sequence[Row],
    columns: Sequence[str],
) -> Plot:
    wide, narrow = scatter_plot(points, field, title=title)
    return Plot(
        name=name,
        title=title,
        units=units,
        n=n,
        wide=wide,
        narrow=narrow,
        columns=columns,
        rows=[[row[column] for column in columns] for row in rows],
        spec=lambda: scatter_spec(
            points, field, series_of(points), title=title, subtitle=f"{units} · n = {n:,}"
        ),
    )
