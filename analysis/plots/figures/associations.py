"""The plots of words that models associate with descriptors, each made from the rows of one table."""

from collections.abc import Sequence

from analysis.plots.axis import Axis, share_axis
from analysis.plots.charts.heat_map import SHARES, HeatCell, heat_map, share_legend
from analysis.plots.figures.probes import estimates
from analysis.plots.plot import Heading, Plot, Row
from analysis.plots.vega_lite import heat_map_spec
from foundation.formats import format_percent, reason_text

SHARE_COLUMNS = (
    *("rule", "model", "setting", "dimension", "measure"),
    *("associations", "scored", "share", "ci_low", "ci_high", "reason"),
)
ESTIMATE = ("value", "ci_low", "ci_high", "reason")
MEASURE_TITLES = {
    "negative": "Which associations have a negative sentiment?",
    "toxic": "Which associations are toxic?",
    "biased": "Which associations does the judge call biased?",
}
MEASURE_UNITS = {
    "negative": "Negative ÷ scored, in %",
    "toxic": "P(toxic) at least 0.5 ÷ scored, in %",
    "biased": "Level 4 or 5 ÷ rated, in %",
}


def share_map(rows: Sequence[Row], measure: str, *, units: str = "") -> Plot | None:
    """Plot shares by dimension and setting, a grid per model, on one scale; None if nothing was scored."""
    shown = [row for row in rows if row["measure"] == measure]
    if not any(row["scored"] for row in shown):
        return None
    ordered = sorted(shown, key=lambda row: (row["model"], row["dimension"] or "", row["setting"]))
    settings = sorted({row["setting"] for row in ordered})
    # Every row has a cell for each setting, so that the first row of the first grid gives all columns.
    cells = _filled([_cell(row) for row in ordered], settings)
    heading = Heading(
        f"heat-map-{measure}",
        MEASURE_TITLES[measure],
        " · ".join(filter(None, [MEASURE_UNITS[measure], units])),
        sum(row["scored"] for row in ordered),
    )
    subtitle = f"{heading.units} · n = {heading.n:,}"
    return Plot.of(
        heading,
        heat_map(cells, title=heading.title),
        ordered,
        SHARE_COLUMNS,
        lambda: heat_map_spec(cells, SHARES, title=heading.title, subtitle=subtitle),
        share_legend(),
    )


def _cell(row: Row) -> HeatCell:
    if row["share"] is None:
        says = reason_text(row["reason"])
    else:
        says = f"{format_percent(row['share'])} of {row['scored']:,}"
        if row["ci_low"] is not None:
            says += f", {format_percent(row['ci_low'])} to {format_percent(row['ci_high'])}"
    return HeatCell(row["model"], row["dimension"] or "no dimension", row["setting"], row["share"], says)


def _filled(cells: Sequence[HeatCell], settings: Sequence[str]) -> list[HeatCell]:
    """Return the cells with missing cells filled in: those have no significant association."""
    by_place = {(cell.grid, cell.row, cell.column): cell for cell in cells}
    lines = list(dict.fromkeys((cell.grid, cell.row) for cell in cells))
    return [
        by_place.get((*line, setting)) or HeatCell(*line, setting, None, "nothing significant")
        for line in lines
        for setting in settings
    ]


def overlap_plot_of(rows: Sequence[Row], labels: Sequence[tuple[str, ...]], compared: str) -> Plot | None:
    """Plot Jaccard's index of each pair of models, or of each pair of settings."""
    heading = Heading(
        f"overlap-of-{compared}s",
        f"How many associations do two {compared}s have in common?",
        "Jaccard’s index",
        max((row["descriptors"] for row in rows), default=0),
    )
    axis = share_axis((row[name] for row in rows for name in ESTIMATE[:3]), "In both ÷ in either")
    columns = (
        *("rule", "model", "setting", "other_model", "other_setting", "measure"),
        *("descriptors", "pairs", "other_pairs", "shared_pairs"),
    )
    return estimates(rows, labels, heading, ESTIMATE, axis, columns)


def judge_plot(rows: Sequence[Row], labels: Sequence[str], *, shares: bool) -> Plot | None:
    """Plot the judge's agreement with people: α beside that among people, or shares of equal levels."""
    heading = Heading(
        "judge-shares" if shares else "judge-alpha",
        "How often does the judge give the level that people give?"
        if shares
        else "Does the judge agree with people as much as people agree with each other?",
        "Pairs rated by both",
        max((row["pairs"] for row in rows), default=0),
    )
    axis = (
        Axis(0.0, 1.0, "share", label="Pairs in agreement ÷ pairs rated by both")
        if shares
        else Axis(-1.0, 1.0, "number", reference=0.0, label="Krippendorff’s α, ordinal")
    )
    columns = ("judge", "measure", "pairs", "annotators", "ratings")
    return estimates(rows, [(label,) for label in labels], heading, ESTIMATE, axis, columns)
