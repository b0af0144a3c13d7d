"""The plots of models' answers to probes, each made from the rows of one table."""

from collections.abc import Mapping, Sequence

from analysis.plots.axis import Axis, centred_axis, share_axis
from analysis.plots.charts.dots import PLAIN, RANDOM, STEREOTYPE, Dot
from analysis.plots.figures.judgements import INTERVAL, both_ends, estimates_plot
from analysis.plots.plot import Heading, Plot, Row

LEVEL = 0.05
# Drawn as a filled circle and a hollow square.
SHOWN, NOT_SHOWN = STEREOTYPE, RANDOM
FINDINGS = ((SHOWN, "difference shown (adjusted p < 0.05)"), (NOT_SHOWN, "no difference shown"))
TESTED = ("difference", "ci_low", "ci_high", "p_holm", "detectable_difference", "equivalent", "n", "reason")


def difference_plot(rows: Sequence[Row], experiment: str) -> Plot | None:
    """Plot differences between two levels of a factor for all models and factors, without interactions."""
    main = [row for row in rows if row["family"] != "interaction"]
    labels = [(row["model"], contrast_words(row)) for row in main]
    heading = Heading(
        "probe-differences",
        "How differently do models answer about the groups?",
        experiment,
        _most(main, "n"),
    )
    columns = ("model", "experiment", "factor", "level", "other", *TESTED)
    return _tested(main, labels, heading, columns, "Difference of mean answers, from −2 to 2")


def group_plot(rows: Sequence[Row], names: Mapping[str, str], experiment: str) -> Plot | None:
    """Plot the mean answer about each group."""
    labels = [(row["model"], names.get(row["group"], row["group"])) for row in rows]
    heading = Heading(
        "probe-groups", "Which option do models choose for each group?", experiment, _sum(rows, "n")
    )
    return estimates(
        rows,
        labels,
        heading,
        ("association", "ci_low", "ci_high", "reason"),
        Axis(-1.0, 1.0, "number", reference=0.0, label="Mean answer: −1 always minus, +1 always plus"),
        ("model", "experiment", "group", "n"),
    )


def refusal_plot(rows: Sequence[Row], names: Mapping[str, str], experiment: str) -> Plot | None:
    """Plot the share of answers about each group that chose neither option."""
    labels = [(row["model"], names.get(row["group"], row["group"])) for row in rows]
    heading = Heading("probe-refusals", "How often do models not choose?", experiment, _sum(rows, "n"))
    estimate = ("refusal_rate", "refusal_low", "refusal_high", "refusal_reason")
    axis = share_axis(
        (row[name] for row in rows for name in estimate[:3]), "Share of answers that choose neither option"
    )
    return estimates(rows, labels, heading, estimate, axis, ("model", "experiment", "group", "n"))


def order_plot(rows: Sequence[Row]) -> Plot | None:
    """Plot the effect of the order of options, by model and experiment."""
    labels = [(row["experiment"], row["model"], f"{row['level']} − {row['other']}") for row in rows]
    heading = Heading(
        "probe-orders",
        "Does the order of the options change the answers?",
        "all experiments",
        _most(rows, "n"),
    )
    columns = ("model", "experiment", "level", "other", *TESTED)
    return _tested(rows, labels, heading, columns, "Difference of mean answers, from −2 to 2")


def first_option_plot(rows: Sequence[Row]) -> Plot | None:
    """Plot each model's share of choices of the first option, over all experiments or by experiment."""
    overall = [row for row in rows if row["experiment"] is None]
    plotted = overall or rows
    labels = [(row["experiment"] or "all experiments", row["model"]) for row in plotted]
    heading = Heading(
        "probe-first-options",
        "How often do models choose the option named first?",
        "",
        _sum(plotted, "decided"),
    )
    axis = Axis(0.0, 1.0, "share", reference=0.5, label="Chose the first ÷ chose one of the two")
    estimate = ("share", "ci_low", "ci_high", "reason")
    return estimates(plotted, labels, heading, estimate, axis, ("model", "experiment", "decided"))


def model_plot(rows: Sequence[Row], experiment: str, *, measure: str) -> Plot | None:
    """Plot paired differences between two models: in mean answers, or in differences between groups."""
    compared = [row for row in rows if row["measure"] == measure]
    labels = [(f"{row['model']} − {row['other_model']}", row["factor"] or "") for row in compared]
    if measure == "association":
        name, title = "probe-model-means", "Do two models choose different options?"
    else:
        name, title = "probe-models", "Is the difference between groups the same in two models?"
    columns = ("experiment", "measure", "factor", "model", "other_model", *TESTED)
    return _tested(
        compared,
        labels,
        Heading(name, title, experiment, _most(compared, "n")),
        columns,
        "Difference between models",
    )


def contrast_words(row: Row) -> str:
    """Return the contrast in words: “size: short − tall”, or the two factors of an interaction."""
    if row["level"] is None or row["other"] is None:
        return str(row["factor"])
    return f"{row['factor']}: {row['level']} − {row['other']}"


def is_shown(row: Row) -> bool:
    """Return whether a test shows a difference: its p, adjusted for its family of tests, is below 0.05."""
    return row["p_holm"] is not None and row["p_holm"] < LEVEL


def _tested(
    rows: Sequence[Row],
    labels: Sequence[tuple[str, ...]],
    heading: Heading,
    columns: Sequence[str],
    axis_label: str,
) -> Plot | None:
    """Plot differences, filled if the test shows them. The heading's `units` names their subject."""
    estimate = ("difference", "ci_low", "ci_high", "reason")
    axis = centred_axis((row[name] for row in rows for name in estimate[:3]), axis_label, least=0.2)
    return estimates(
        rows, labels, heading, estimate, axis, [name for name in columns if name not in estimate], tested=True
    )


def estimates(
    rows: Sequence[Row],
    labels: Sequence[tuple[str, ...]],
    heading: Heading,
    estimate: tuple[str, str, str, str],
    axis: Axis,
    columns: Sequence[str],
    *,
    tested: bool = False,
) -> Plot | None:
    value, low, high, reason = estimate
    words, common = shortened(labels)
    labelled = [{**row, "_label": label} for row, label in zip(rows, words, strict=True)]
    defined = [row for row in labelled if row[value] is not None]
    if not defined:
        return None
    lines = both_ends(defined, value)
    dots = [
        Dot(
            row["_label"],
            row[low],
            row[value],
            row[high],
            (SHOWN if is_shown(row) else NOT_SHOWN) if tested else PLAIN,
            row[reason],
        )
        for row in lines.rows
    ]
    units = " · ".join(filter(None, [heading.units, *common, INTERVAL])) + lines.note
    whole_heading = Heading(heading.name, heading.title, units, heading.n)
    return estimates_plot(dots, axis, whole_heading, lines, (*columns, *estimate), FINDINGS if tested else ())


def shortened(labels: Sequence[tuple[str, ...]]) -> tuple[list[str], list[str]]:
    """Return the labels without their common parts, and the common parts."""
    if not labels:
        return [], []
    width = len(labels[0])
    differing = [place for place in range(width) if len({label[place] for label in labels}) > 1]
    differing = differing or [width - 1]
    words = [" · ".join(filter(None, (label[place] for place in differing))) for label in labels]
    return words, [labels[0][place] for place in range(width) if place not in differing]


def _most(rows: Sequence[Row], column: str) -> int:
    return max((row[column] for row in rows), default=0)


def _sum(rows: Sequence[Row], column: str) -> int:
    return sum(row[column] for row in rows)
