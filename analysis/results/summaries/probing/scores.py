"""Mean answers about groups, how often a model did not choose, and how often it chose the option named first."""

from collections.abc import Sequence

from analysis.plots.figures.probes import first_option_plot, group_plot, refusal_plot
from analysis.results.summaries.probing.probe_rows import PartWords, ProbeTableRows, Row, part_of
from analysis.results.summaries.questions.estimate_tables import SHARE, EstimateRow, QuestionPart
from foundation.formats import format_percent

BREAKDOWNS = {
    "question": ("pairs_questions", "By question"),
    "scenario": ("pairs_scenarios", "By scenario"),
    "order": ("pairs_orders", "By order of the options"),
}


def groups(rows: ProbeTableRows, *, by: str = "") -> QuestionPart:
    """Mean answers about each group, of an experiment or of its parts."""
    table, title = BREAKDOWNS[by] if by else ("pairs_scores", "Groups")
    scored = rows.of(table)
    lines = [
        EstimateRow.of(
            row,
            "association",
            label=_label(row, rows, by),
            number=row["n"],
            cells=(format_percent(row["refusal_rate"]), format_percent(row["other_share"])),
        )
        for row in scored
    ]
    words = PartWords(
        table=table,
        title=title,
        explanations=(
            "Mean answer: +1 if all answers chose the option coded +1, −1 if all chose the other.",
        ),
        value="Mean answer",
        number="Answers",
        heads=("Refused or both", "Other"),
    )
    plot = None if by else group_plot(scored, rows.names, rows.experiment)
    return part_of(words, lines, ends=(-1.0, 1.0), plot=plot)


def refusals(rows: ProbeTableRows) -> QuestionPart:
    """How often a model refused, named both options, or was stopped by the endpoint's filter."""
    scored = rows.of("pairs_scores")
    lines = [
        EstimateRow(
            label=_label(row, rows),
            value=row["refusal_rate"],
            low=row["refusal_low"],
            high=row["refusal_high"],
            reason=row["refusal_reason"],
            number=row["n"],
            cells=tuple(f"{row[outcome]:,}" for outcome in ("refused", "both", "declined")),
        )
        for row in scored
    ]
    words = PartWords(
        table="pairs_scores",
        title="Refusals",
        explanations=(
            "The share of answers in which the model refused or named both options, or which the filter of its "
            "endpoint declined.",
        ),
        value="Share",
        number="Answers",
        heads=("Refused", "Both", "Declined"),
    )
    plot = refusal_plot(scored, rows.names, rows.experiment)
    return part_of(words, lines, ends=(0.0, 1.0), plot=plot, kind=SHARE, reference=None)


def first_options(rows: ProbeTableRows) -> QuestionPart:
    """How often the option that is named first was chosen."""
    shares = rows.of("pairs_first_options")
    lines = [
        EstimateRow.of(
            row,
            "share",
            label=f"{row['model']} · {row['experiment'] or 'all experiments'}",
            number=row["decided"],
        )
        for row in sorted(shares, key=lambda row: row["experiment"] is not None)
    ]
    words = PartWords(
        table="pairs_first_options",
        title="Option named first",
        explanations=(
            "The share of answers that chose the option named first, among answers that chose an option. If every "
            "question is asked in both orders, 50 % means that the order does not matter.",
        ),
        value="Share",
        number="Answers",
    )
    return part_of(words, lines, ends=(0.0, 1.0), plot=first_option_plot(shares), kind=SHARE, reference=0.5)


def _label(row: Row, rows: ProbeTableRows, by: str = "") -> str:
    parts: Sequence[str] = (row["model"], row[by] if by else "", rows.name_of(row["group"]))
    return " · ".join(filter(None, parts))
