"""The plots of a study, each from the rows of one table."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.plots.axis import Axis, ratio_axis, share_axis
from analysis.plots.bars import Bar, bar_plot
from analysis.plots.dots import PLAIN, RANDOM, STEREOTYPE, Dot, dot_plot
from analysis.plots.plot import Plot

Row = Mapping[str, Any]
INTERVAL = "95 % intervals"
# More lines than this are no longer a picture: the ends of the order are shown, and the table has all.
MOST_LINES = 40


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
    wide, narrow = dot_plot(dots, axis, title=title)
    some = "" if shown == defined else f" · the {MOST_LINES // 2} largest and smallest of {len(defined)}"
    return Plot(
        name="theta",
        title=title,
        units=f"θ, {INTERVAL}, dashed line: no difference{some}",
        n=len(shown),
        wide=wide,
        narrow=narrow,
        columns=["identity_group", "theta", "theta_low", "theta_high", "reason"],
        rows=[
            [row[c] for c in ("identity_group", "theta", "theta_low", "theta_high", "reason")]
            for row in shown
        ],
    )


def likelihood_plot(rows: Sequence[Row], group: str) -> Plot:
    """L of every attribute of one group, largest first, stereotypes and random attributes by form."""
    ordered = sorted(rows, key=lambda row: (-row["likelihood"], row["role"] != STEREOTYPE, row["attribute"]))
    title = f"Which attributes do people see in images of {group} people?"
    dots = [
        Dot(row["attribute"], row["ci_low"], row["likelihood"], row["ci_high"], row["role"], row["reason"])
        for row in ordered
    ]
    wide, narrow = dot_plot(dots, share_axis(_ends(dots), "Likelihood: marked ÷ shown"), title=title)
    columns = ["attribute", "role", "shown", "marked", "likelihood", "ci_low", "ci_high"]
    return Plot(
        name="likelihood",
        title=title,
        units=f"Share of judgements, {INTERVAL}",
        n=sum(row["shown"] for row in rows),
        wide=wide,
        narrow=narrow,
        columns=columns,
        rows=[[row[column] for column in columns] for row in ordered],
        legend=[(STEREOTYPE, "stereotype of the group"), (RANDOM, "random attribute")],
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
    wide, narrow = dot_plot(dots, share_axis(_ends(dots), "Likelihood: marked ÷ shown"), title=title)
    columns = ["identity_group", "role", "shown", "marked", "likelihood", "ci_low", "ci_high"]
    return Plot(
        name="attribute",
        title=title,
        units=f"Share of judgements, {INTERVAL}",
        n=sum(row["shown"] for row in ordered),
        wide=wide,
        narrow=narrow,
        columns=columns,
        rows=[[row[column] for column in columns] for row in ordered],
        legend=[(STEREOTYPE, "stereotype of the group"), (RANDOM, "random attribute")],
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
    wide, narrow = bar_plot(bars, title=title, units=units)
    legend = [("outer", f"{levels[0]} or more agree")] + (
        [("inner", f"{strict} or more agree")] if strict else []
    )
    return Plot(
        name="consensus",
        title=title,
        units=units,
        n=max((row["units_rated"] for row in rows), default=0),
        wide=wide,
        narrow=narrow,
        columns=["label", "agreeing", "units_rated", "units_agreeing", "share"],
        rows=[
            [row[column] for column in ("label", "agreeing", "units_rated", "units_agreeing", "share")]
            for row in rows
        ],
        legend=legend,
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
    wide, narrow = dot_plot(dots, axis, title=title)
    some = "" if shown == defined else f" · the {MOST_LINES // 2} largest and smallest of {len(defined)}"
    return Plot(
        name=f"alpha-by-{scope.replace('_', '-')}",
        title=title,
        units=f"Krippendorff’s α (nominal), {INTERVAL}{some}",
        n=len(shown),
        wide=wide,
        narrow=narrow,
        columns=["scope_value", "value", "ci_low", "ci_high", "units", "judgements"],
        rows=[
            [row[column] for column in ("scope_value", "value", "ci_low", "ci_high", "units", "judgements")]
            for row in shown
        ],
    )


def _ends(dots: Sequence[Dot]) -> list[float | None]:
    return [value for dot in dots for value in (dot.low, dot.estimate, dot.high)]
