"""The plots of answers to declared questions, each made from the rows of one table."""

from collections.abc import Mapping, Sequence

from analysis.plots.axis import Axis, centred_axis, share_axis
from analysis.plots.charts.dots import Dot
from analysis.plots.figures.judgements import INTERVAL, Lines, both_ends, estimates_plot, plotted_values
from analysis.plots.plot import Heading, Plot, Row

ENDS = ("ci_low", "ci_high", "reason")


def strength_plot(rows: Sequence[Row], names: Mapping[str, str], label: str) -> Plot | None:
    """Plot the strengths of items, strongest first."""
    defined = sorted((row for row in rows if row["strength"] is not None), key=lambda row: -row["strength"])
    if not defined:
        return None
    lines = both_ends(defined, "strength")
    dots = [_dot(row, names.get(row["item"], row["item"]), "strength") for row in lines.rows]
    # A comparison counts for two items. n of rankings is that of the item ranked most often.
    number = sum(row.get("comparisons", 0) for row in defined) // 2
    number = number or max(row.get("rankings", 0) for row in defined)
    heading = Heading("question-strengths", label, f"Strength, {INTERVAL}{lines.note}", number)
    axis = centred_axis(plotted_values(dots), "Strength, 0 is the mean of all", least=1.0)
    return estimates_plot(dots, axis, heading, lines, ("item", "strength", *ENDS))


def mean_plot(
    rows: Sequence[Row], names: Mapping[str, str], label: str, ends: tuple[float, float]
) -> Plot | None:
    """Plot means on a scale: of all answers, by model and by group."""
    lines = both_ends([row for row in rows if row["mean"] is not None], "mean")
    if not lines.rows:
        return None
    dots = [_dot(row, slice_name(row, names), "mean") for row in lines.rows]
    heading = Heading("question-means", label, f"Mean, {INTERVAL}{lines.note}", _answers(rows, "answers"))
    axis = Axis(*ends, "number", label=f"Scale from {ends[0]:g} to {ends[1]:g}")
    return estimates_plot(dots, axis, heading, lines, ("by", "item", "answers", "mean", *ENDS))


def share_plot(rows: Sequence[Row], label: str) -> Plot | None:
    """Plot the share of each option among all answers, in the question's order."""
    plotted = [row for row in rows if row["by"] == "all" and row["share"] is not None]
    if not plotted:
        return None
    dots = [_dot(row, row["label"], "share") for row in plotted]
    heading = Heading("question-shares", label, f"Share of answers, {INTERVAL}", plotted[0]["answers"])
    axis = share_axis(plotted_values(dots), "Share of those who answered")
    return estimates_plot(
        dots, axis, heading, Lines(plotted), ("code", "label", "answers", "chosen", "share", *ENDS)
    )


def marked_words_plot(rows: Sequence[Row], names: Mapping[str, str], label: str) -> Plot | None:
    """Plot the share of marked words: of all answers, by model and by group."""
    lines = both_ends([row for row in rows if row["share"] is not None], "share")
    if not lines.rows:
        return None
    dots = [_dot(row, slice_name(row, names), "share") for row in lines.rows]
    heading = Heading(
        "question-words", label, f"Share of words, {INTERVAL}{lines.note}", _answers(rows, "answers")
    )
    axis = share_axis(plotted_values(dots), "Marked words ÷ words of the text")
    return estimates_plot(dots, axis, heading, lines, ("by", "item", "answers", "share", *ENDS))


def slice_name(row: Row, names: Mapping[str, str]) -> str:
    """Return the subject of a row in words: all answers, a model, or a group's name."""
    if row["by"] == "all":
        return "All answers"
    if row["by"] == "identity_group":
        return str(names.get(row["item"], row["item"]))
    return str(row["item"]) or "a model without a name"


def _dot(row: Row, label: str, value: str) -> Dot:
    return Dot(label, row["ci_low"], row[value], row["ci_high"], reason=row["reason"])


def _answers(rows: Sequence[Row], column: str) -> int:
    return next((row[column] for row in rows if row["by"] == "all"), 0)
