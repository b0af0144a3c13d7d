"""The plots of a study, each from the rows of one table."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.plots.axis import Axis, ratio_axis, share_axis
from analysis.plots.charts.bars import Bar, bar_plot
from analysis.plots.charts.dots import PLAIN, RANDOM, STEREOTYPE, Dot, dot_plot, said
from analysis.plots.plot import Plot
from analysis.plots.vega.charts import bars_spec, dots_spec

Row = Mapping[str, Any]
INTERVAL = "95 % intervals"
# More lines than this are no longer a picture: the ends of the order are shown, and the table has all.
MOST_LINES = 40
SHARES = ("role", "shown", "marked", "likelihood", "ci_low", "ci_high")
FORMS = {STEREOTYPE: "● ", RANDOM: "■ "}
ROLES = ((STEREOTYPE, "stereotype of the group"), (RANDOM, "random attribute"))


def theta_plot(rows: Sequence[Row], names: Mapping[str, str]) -> Plot:
    """θ of every group that has one, largest first; of very many, those at both ends."""
    defined = sorted((row for row in rows if row["theta"] is not None), key=lambda row: -row["theta"])
    shown = (
        defined if len(defined) <= MOST_LINES else defined[: MOST_LINES // 2] + defined[-MOST_LINES // 2 :]
    )
    title = "In which groups’ images are stereotypes marked more often than random attributes?"
    dots = [
        Dot(
            names.get(row["identity_group"], row["identity_group"]),
            row["theta_low"],
            row["theta"],
            row["theta_high"],
            reason=row["reason"],
        )
        for row in shown
    ]
    axis = ratio_axis(_ends(dots), "θ = L(stereotypes) ÷ L(random attributes), log scale")
    some = "" if shown == defined else f" · the {MOST_LINES // 2} largest and smallest of {len(defined)}"
    return _of_dots(
        dots,
        axis,
        name="theta",
        title=title,
        units=f"θ, {INTERVAL}, dashed line: no difference{some}",
        n=len(shown),
        rows=shown,
        columns=("identity_group", "theta", "theta_low", "theta_high", "reason"),
    )


def likelihood_plot(rows: Sequence[Row], group: str) -> Plot:
    """L of every attribute of one group, largest first, stereotypes and random attributes by form."""
    ordered = sorted(rows, key=lambda row: (-row["likelihood"], row["role"] != STEREOTYPE, row["attribute"]))
    title = f"Which attributes do people see in images of {group} people?"
    dots = [
        Dot(row["attribute"], row["ci_low"], row["likelihood"], row["ci_high"], row["role"], row["reason"])
        for row in ordered
    ]
    return _of_dots(
        dots,
        share_axis(_ends(dots), "Likelihood: marked ÷ shown"),
        name="likelihood",
        title=title,
        units=f"Share of judgements, {INTERVAL}",
        n=sum(row["shown"] for row in rows),
        rows=ordered,
        columns=("attribute", *SHARES),
        legend=ROLES,
    )


def attribute_plot(rows: Sequence[Row], names: Mapping[str, str], attribute: str) -> Plot:
    """L of one attribute in every group it was shown for, stereotype and random told apart by form."""
    ordered = sorted(rows, key=lambda row: (-row["likelihood"], row["identity_group"]))[:MOST_LINES]
    title = f"In which groups’ images do people see “{attribute}”?"
    dots = [
        Dot(
            names.get(row["identity_group"], row["identity_group"]),
            row["ci_low"],
            row["likelihood"],
            row["ci_high"],
            row["role"],
            row["reason"],
        )
        for row in ordered
    ]
    return _of_dots(
        dots,
        share_axis(_ends(dots), "Likelihood: marked ÷ shown"),
        name="attribute",
        title=title,
        units=f"Share of judgements, {INTERVAL}",
        n=sum(row["shown"] for row in ordered),
        rows=ordered,
        columns=("identity_group", *SHARES),
        legend=ROLES,
    )


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
    title = "On how many attributes do annotators give the same answer?"
    units = "Share of rated attributes"
    axis = share_axis([bar.outer for bar in bars], units)
    wide, narrow = bar_plot(bars, axis, title=title)
    legend = [("outer", f"{levels[0]} or more agree")] + (
        [("inner", f"{strict} or more agree")] if strict else []
    )
    rated = max((row["units_rated"] for row in rows), default=0)
    columns = ("label", "agreeing", "units_rated", "units_agreeing", "share")
    return Plot(
        name="consensus",
        title=title,
        units=units,
        n=rated,
        wide=wide,
        narrow=narrow,
        columns=columns,
        rows=[[row[column] for column in columns] for row in rows],
        spec=lambda: bars_spec(
            bars,
            axis,
            title=title,
            subtitle=f"{units} · {' · '.join(words for _, words in legend)} · n = {rated:,}",
        ),
        legend=legend,
    )


def overlap_plot(rows: Sequence[Row]) -> Plot | None:
    """How much boxes of two annotators overlap: the share of pairs in each class of IoU."""
    known = [row for row in rows if row["share"] is not None]
    if not known:
        return None
    bars = [Bar(f"{row['bin_low']:.1f} to {row['bin_high']:.1f}", row["share"]) for row in known]
    title, units = "How much do boxes of two annotators overlap?", "Share of pairs of boxes, by IoU"
    axis, n = share_axis([bar.outer for bar in bars], units), sum(row["pairs"] for row in known)
    wide, narrow = bar_plot(bars, axis, title=title)
    columns = ("bin_low", "bin_high", "pairs", "share")
    return Plot(
        name="overlap",
        title=title,
        units=units,
        n=n,
        wide=wide,
        narrow=narrow,
        columns=columns,
        rows=[[row[column] for column in columns] for row in known],
        spec=lambda: bars_spec(bars, axis, title=title, subtitle=f"{units} · n = {n:,} pairs"),
    )


def alpha_plot(rows: Sequence[Row], names: Mapping[str, str], scope: str) -> Plot | None:
    """α per group or attribute, largest first; of very many, those at both ends."""
    defined = sorted((row for row in rows if row["value"] is not None), key=lambda row: -row["value"])
    if not defined:
        return None
    shown = (
        defined if len(defined) <= MOST_LINES else defined[: MOST_LINES // 2] + defined[-MOST_LINES // 2 :]
    )
    dots = [
        Dot(
            names.get(row["scope_value"], row["scope_value"]),
            row["ci_low"],
            row["value"],
            row["ci_high"],
            PLAIN,
            row["reason"],
        )
        for row in shown
    ]
    what = {"identity_group": "groups’ images", "attribute": "attributes"}[scope]
    title = f"About which {what} do annotators agree?"
    low = min(0.0, *[max(-1.0, value) for value in _ends(dots) if value is not None])
    axis = Axis(low, 1.0, "number", reference=0.0, label="Krippendorff’s α")
    some = "" if shown == defined else f" · the {MOST_LINES // 2} largest and smallest of {len(defined)}"
    return _of_dots(
        dots,
        axis,
        name=f"alpha-by-{scope.replace('_', '-')}",
        title=title,
        units=f"Krippendorff’s α (nominal), {INTERVAL}{some}",
        n=len(shown),
        rows=shown,
        columns=("scope_value", "value", "ci_low", "ci_high", "units", "judgements"),
    )


def _of_dots(
    dots: Sequence[Dot],
    axis: Axis,
    *,
    name: str,
    title: str,
    units: str,
    n: int,
    rows: Sequence[Row],
    columns: Sequence[str],
    legend: Sequence[tuple[str, str]] = (),
) -> Plot:
    """Estimates with their intervals; the lines of the plot are the rows of its data table."""
    wide, narrow = dot_plot(dots, axis, title=title)
    said_units = " · ".join([units, *(FORMS[series] + words for series, words in legend)])
    return Plot(
        name=name,
        title=title,
        units=units,
        n=n,
        wide=wide,
        narrow=narrow,
        columns=columns,
        rows=[[row[column] for column in columns] for row in rows],
        spec=lambda: dots_spec(
            dots, axis, [said(dot, axis) for dot in dots], title=title, subtitle=f"{said_units} · n = {n:,}"
        ),
        legend=legend,
    )


def _ends(dots: Sequence[Dot]) -> list[float | None]:
    return [value for dot in dots for value in (dot.low, dot.estimate, dot.high)]
