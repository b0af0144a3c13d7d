"""The plots of people's answers, each made from the rows of one table."""

from collections.abc import Mapping, Sequence

from analysis.plots.axis import Axis, ratio_axis, share_axis
from analysis.plots.charts.bars import Bar, bar_plot
from analysis.plots.charts.dots import PLAIN, RANDOM, STEREOTYPE, Dot, dot_plot
from analysis.plots.plot import Heading, Plot, Row
from analysis.plots.vega_lite import bars_spec, dots_spec

INTERVAL = "95 % intervals"
# More lines than this are no longer a picture: the ends of the order are shown, and the table has all.
MOST_LINES = 40
SHARES = ("role", "shown", "marked", "likelihood", "ci_low", "ci_high")
FORMS = {STEREOTYPE: "● ", RANDOM: "■ "}
ROLES = ((STEREOTYPE, "stereotype of the group"), (RANDOM, "random attribute"))


def theta_plot(rows: Sequence[Row], names: Mapping[str, str]) -> Plot:
    """θ of every group that has one, largest first; of very many, those at both ends."""
    plotted, note = both_ends(
        sorted((row for row in rows if row["theta"] is not None), key=lambda row: -row["theta"])
    )
    dots = [
        Dot(
            names.get(row["identity_group"], row["identity_group"]),
            row["theta_low"],
            row["theta"],
            row["theta_high"],
            reason=row["reason"],
        )
        for row in plotted
    ]
    heading = Heading(
        "theta",
        "In which groups’ images are stereotypes marked more often than random attributes?",
        f"θ, {INTERVAL}, dashed line: no difference{note}",
        len(plotted),
    )
    axis = ratio_axis(plotted_values(dots), "θ = L(stereotypes) ÷ L(random attributes), log scale")
    columns = ("identity_group", "theta", "theta_low", "theta_high", "reason")
    return estimates_plot(dots, axis, heading, plotted, columns)


def both_ends(rows: Sequence[Row]) -> tuple[list[Row], str]:
    """The rows and "", or of very many the first and last, and a note that says so."""
    if len(rows) <= MOST_LINES:
        return list(rows), ""
    half = MOST_LINES // 2
    return [*rows[:half], *rows[-half:]], f" · the {half} largest and smallest of {len(rows)}"


def likelihood_plot(rows: Sequence[Row], group: str) -> Plot:
    """L of every attribute of one group, largest first, stereotypes and random attributes by form."""
    ordered = sorted(rows, key=lambda row: (-row["likelihood"], row["role"] != STEREOTYPE, row["attribute"]))
    title = f"Which attributes do people see in images of {group} people?"
    return _likelihoods([row["attribute"] for row in ordered], ordered, "likelihood", title, "attribute")


def attribute_plot(rows: Sequence[Row], names: Mapping[str, str], attribute: str) -> Plot:
    """L of one attribute in every group it was shown for, stereotype and random told apart by form."""
    ordered = sorted(rows, key=lambda row: (-row["likelihood"], row["identity_group"]))[:MOST_LINES]
    labels = [names.get(row["identity_group"], row["identity_group"]) for row in ordered]
    title = f"In which groups’ images do people see “{attribute}”?"
    return _likelihoods(labels, ordered, "attribute", title, "identity_group")


def _likelihoods(
    labels: Sequence[str], rows: Sequence[Row], name: str, title: str, label_column: str
) -> Plot:
    dots = [
        Dot(label, row["ci_low"], row["likelihood"], row["ci_high"], row["role"], row["reason"])
        for label, row in zip(labels, rows, strict=True)
    ]
    heading = Heading(name, title, f"Share of judgements, {INTERVAL}", sum(row["shown"] for row in rows))
    axis = share_axis(plotted_values(dots), "Likelihood: marked ÷ shown")
    return estimates_plot(dots, axis, heading, rows, (label_column, *SHARES), ROLES)


def consensus_plot(rows: Sequence[Row]) -> Plot | None:
    """Per answer, the share of attributes on which enough annotators gave it."""
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
    """How much boxes of two annotators overlap: the share of pairs in each class of IoU."""
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
    """α per group or attribute, largest first; of very many, those at both ends."""
    defined = sorted((row for row in rows if row["value"] is not None), key=lambda row: -row["value"])
    if not defined:
        return None
    plotted, note = both_ends(defined)
    dots = [
        Dot(
            names.get(row["scope_value"], row["scope_value"]),
            row["ci_low"],
            row["value"],
            row["ci_high"],
            PLAIN,
            row["reason"],
        )
        for row in plotted
    ]
    subject = {"identity_group": "groups’ images", "attribute": "attributes"}[scope]
    heading = Heading(
        f"alpha-by-{scope.replace('_', '-')}",
        f"About which {subject} do annotators agree?",
        f"Krippendorff’s α (nominal), {INTERVAL}{note}",
        len(plotted),
    )
    low = min(0.0, *[max(-1.0, value) for value in plotted_values(dots) if value is not None])
    axis = Axis(low, 1.0, "number", reference=0.0, label="Krippendorff’s α")
    columns = ("scope_value", "value", "ci_low", "ci_high", "units", "judgements")
    return estimates_plot(dots, axis, heading, plotted, columns)


def estimates_plot(
    dots: Sequence[Dot],
    axis: Axis,
    heading: Heading,
    rows: Sequence[Row],
    columns: Sequence[str],
    legend: Sequence[tuple[str, str]] = (),
) -> Plot:
    """Estimates with their intervals; the lines of the plot are the rows of its data table."""
    units = " · ".join([heading.units, *(FORMS[series] + words for series, words in legend)])
    return Plot.of(
        heading,
        dot_plot(dots, axis, title=heading.title),
        rows,
        columns,
        lambda: dots_spec(dots, axis, title=heading.title, subtitle=f"{units} · n = {heading.n:,}"),
        legend,
    )


def plotted_values(dots: Sequence[Dot]) -> list[float | None]:
    return [value for dot in dots for value in (dot.low, dot.estimate, dot.high)]
