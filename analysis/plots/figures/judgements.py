"""The plots of people's answers, each made from the rows of one table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.plots.axis import Axis, ratio_axis, share_axis
from analysis.plots.charts.bars import Bar, bar_plot
from analysis.plots.charts.dots import PLAIN, RANDOM, STEREOTYPE, Dot, Gap, dot_plot
from analysis.plots.plot import Heading, Plot, Row
from analysis.plots.vega_lite import bars_spec, dots_spec

INTERVAL = "95 % intervals"
SHARE_OF_JUDGEMENTS = f"Share of judgements, {INTERVAL}"
# Plots with more lines would be unreadable: they show both ends of the order, and the table has all lines.
MOST_LINES = 40
SHARES = ("role", "shown", "marked", "likelihood", "ci_low", "ci_high")
FORMS = {STEREOTYPE: "● ", RANDOM: "■ "}
ROLES = ((STEREOTYPE, "stereotype of the group"), (RANDOM, "random attribute"))


@dataclass(frozen=True)
class Lines:
    """The rows that a plot shows, and the number left out between its upper and lower half."""

    rows: Sequence[Row]
    left_out: int = 0

    @property
    def note(self) -> str:
        """The addition to the plot's units if rows are left out."""
        half = len(self.rows) // 2
        total = len(self.rows) + self.left_out
        return f" · the {half} largest and the {half} smallest of {total:,}" if self.left_out else ""

    @property
    def gap(self) -> Gap | None:
        """The gap between both ends, if rows are left out."""
        if not self.left_out:
            return None
        return Gap(len(self.rows) // 2, f"{self.left_out:,} rows in between are not shown")


def theta_plot(rows: Sequence[Row], names: Mapping[str, str]) -> Plot:
    """Plot θ of all groups where it is defined, largest first; of many groups, only both ends."""
    defined = sorted((row for row in rows if row["theta"] is not None), key=lambda row: -row["theta"])
    lines = both_ends(defined, "theta")
    dots = [
        Dot(
            names.get(row["identity_group"], row["identity_group"]),
            row["theta_low"],
            row["theta"],
            row["theta_high"],
            reason=row["reason"],
        )
        for row in lines.rows
    ]
    heading = Heading(
        "theta",
        "In which groups’ images are stereotypes marked more often than random attributes?",
        f"θ, {INTERVAL}, dashed line: no difference{lines.note}",
        len(defined),
    )
    axis = ratio_axis(
        plotted_values(dots),
        "θ = L(stereotypes) ÷ L(random attributes), log scale",
        estimates=[dot.estimate for dot in dots],
    )
    columns = ("identity_group", "theta", "theta_low", "theta_high", "reason")
    return estimates_plot(dots, axis, heading, lines, columns)


def both_ends(rows: Sequence[Row], column: str) -> Lines:
    """Return all rows; of more than MOST_LINES, those with the largest and then the smallest values."""
    if len(rows) <= MOST_LINES:
        return Lines(rows)
    half = MOST_LINES // 2
    ordered = sorted(rows, key=lambda row: (row[column] is None, -(row[column] or 0.0)))
    largest = [{**row, "end": "largest"} for row in ordered[:half]]
    smallest = [{**row, "end": "smallest"} for row in ordered[-half:]]
    return Lines([*largest, *smallest], len(rows) - MOST_LINES)


def likelihood_plot(rows: Sequence[Row], group: str) -> Plot:
    """Plot L of a group's attributes, largest first; stereotypes and random attributes differ in shape."""
    ordered = sorted(rows, key=lambda row: (-row["likelihood"], row["role"] != STEREOTYPE, row["attribute"]))
    title = f"Which attributes do people see in images for ‘{group}’?"
    heading = Heading("likelihood", title, SHARE_OF_JUDGEMENTS, sum(row["shown"] for row in rows))
    return _likelihoods([row["attribute"] for row in ordered], ordered, heading, "attribute")


def attribute_plot(rows: Sequence[Row], names: Mapping[str, str], attribute: str) -> Plot:
    """Plot the likelihood of one attribute by group; stereotypes and random attributes differ in shape."""
    ordered = sorted(rows, key=lambda row: (-row["likelihood"], row["identity_group"]))
    largest = ordered[:MOST_LINES]
    labels = [names.get(row["identity_group"], row["identity_group"]) for row in largest]
    title = f"In which groups’ images do people see “{attribute}”?"
    note = f" · the {MOST_LINES} largest of {len(ordered)}" if len(ordered) > MOST_LINES else ""
    n = sum(row["shown"] for row in largest)
    heading = Heading("attribute", title, SHARE_OF_JUDGEMENTS + note, n)
    return _likelihoods(labels, largest, heading, "identity_group")


def _likelihoods(labels: Sequence[str], rows: Sequence[Row], heading: Heading, label_column: str) -> Plot:
    dots = [
        Dot(label, row["ci_low"], row["likelihood"], row["ci_high"], row["role"], row["reason"])
        for label, row in zip(labels, rows, strict=True)
    ]
    axis = share_axis(plotted_values(dots), "Likelihood: marked ÷ shown")
    return estimates_plot(dots, axis, heading, Lines(rows), (label_column, *SHARES), ROLES)


def consensus_plot(rows: Sequence[Row]) -> Plot | None:
    """Plot for each answer the share of attributes for which enough annotators gave it."""
    levels = sorted({row["agreeing"] for row in rows})
    if not levels:
        return None
    share = {(row["label"], row["agreeing"]): row["share"] for row in rows}
    labels = [*list(dict.fromkeys(row["label"] for row in rows if row["label"] != "any"))[::-1], "any"]
    strict = levels[-1] if len(levels) > 1 else None
    bars = [
        Bar(
            "any answer" if label == "any" else label,
            share.get((label, levels[0])),
            share.get((label, strict)) if strict else None,
        )
        for label in labels
    ]
    rated = max((row["units_rated"] for row in rows), default=0)
    heading = Heading(
        "consensus",
        "On how many attributes do annotators give the same answer?",
        "Share of rated attributes",
        rated,
    )
    axis = share_axis([bar.outer for bar in bars], heading.units)
    legend = [("outer", f"{levels[0]} or more agree")] + (
        [("inner", f"{strict} or more agree")] if strict else []
    )
    subtitle = f"{heading.units} · {' · '.join(words for _, words in legend)} · n = {rated:,}"
    return Plot.of(
        heading,
        bar_plot(bars, axis, title=heading.title),
        rows,
        ("label", "agreeing", "units_rated", "units_agreeing", "share"),
        lambda: bars_spec(bars, axis, title=heading.title, subtitle=subtitle),
        legend,
    )


def overlap_plot(rows: Sequence[Row]) -> Plot | None:
    """Plot the overlap of two annotators' boxes: the share of pairs in each class of IoU."""
    defined = [row for row in rows if row["share"] is not None]
    if not defined:
        return None
    bars = [Bar(f"{row['bin_low']:.1f} to {row['bin_high']:.1f}", row["share"]) for row in defined]
    heading = Heading(
        "overlap",
        "How much do boxes of two annotators overlap?",
        "Share of pairs of boxes, by IoU",
        sum(row["pairs"] for row in defined),
    )
    axis = share_axis([bar.outer for bar in bars], heading.units)
    subtitle = f"{heading.units} · n = {heading.n:,} pairs"
    return Plot.of(
        heading,
        bar_plot(bars, axis, title=heading.title),
        defined,
        ("bin_low", "bin_high", "pairs", "share"),
        lambda: bars_spec(bars, axis, title=heading.title, subtitle=subtitle),
    )


def alpha_plot(rows: Sequence[Row], names: Mapping[str, str], scope: str) -> Plot | None:
    """Plot α by group or attribute, largest first; of many, only both ends."""
    defined = sorted((row for row in rows if row["value"] is not None), key=lambda row: -row["value"])
    if not defined:
        return None
    lines = both_ends(defined, "value")
    dots = [
        Dot(
            names.get(row["scope_value"], row["scope_value"]),
            row["ci_low"],
            row["value"],
            row["ci_high"],
            PLAIN,
            row["reason"],
        )
        for row in lines.rows
    ]
    subject = {"identity_group": "groups’ images", "attribute": "attributes"}[scope]
    heading = Heading(
        f"alpha-by-{scope.replace('_', '-')}",
        f"About which {subject} do annotators agree?",
        f"Krippendorff’s α (nominal), {INTERVAL}{lines.note}",
        len(defined),
    )
    low = min(0.0, *[max(-1.0, value) for value in plotted_values(dots) if value is not None])
    axis = Axis(low, 1.0, "number", reference=0.0, label="Krippendorff’s α")
    columns = ("scope_value", "value", "ci_low", "ci_high", "units", "judgements")
    return estimates_plot(dots, axis, heading, lines, columns)


def estimates_plot(
    dots: Sequence[Dot],
    axis: Axis,
    heading: Heading,
    lines: Lines,
    columns: Sequence[str],
    legend: Sequence[tuple[str, str]] = (),
) -> Plot:
    """Plot estimates with intervals; the plot's data table has the same rows.

    If lines are left out, the table has another column, `end`: largest or smallest.
    """
    units = " · ".join([heading.units, *(FORMS[series] + words for series, words in legend)])
    return Plot.of(
        heading,
        dot_plot(dots, axis, title=heading.title, gap=lines.gap),
        lines.rows,
        (*columns, "end") if lines.left_out else columns,
        lambda: dots_spec(
            dots, axis, title=heading.title, subtitle=f"{units} · n = {heading.n:,}", gap=lines.gap
        ),
        legend,
    )


def plotted_values(dots: Sequence[Dot]) -> list[float | None]:
    return [value for dot in dots for value in (dot.low, dot.estimate, dot.high)]
