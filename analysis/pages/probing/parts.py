"""The tables of the page: each row an estimate with its interval."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.results.summaries.questions.part import MOST_ROWS, NUMBER, SHARE, EstimateRow, QuestionPart
from foundation.formats import DASH, format_number, format_percent

Row = dict[str, Any]
BREAKDOWNS = {
    "question": ("pairs_questions", "By question"),
    "scenario": ("pairs_scenarios", "By scenario"),
    "order": ("pairs_orders", "By order of the options"),
}


def differences(rows: Sequence[Row]) -> QuestionPart:
    """Paired differences of an experiment: the published comparison first."""
    lines = [
        EstimateRow(
            label=f"{row['model']} · {factor_words(row)}",
            value=row["difference"],
            low=row["ci_low"],
            high=row["ci_high"],
            reason=row["reason"],
            number=row["n"],
            cells=(
                _p(row["p_holm"]),
                format_number(row["d_z"], 2),
                format_number(row["detectable_difference"], 2),
                DASH if row["equivalent"] is None else "yes" if row["equivalent"] else "no",
            ),
        )
        for row in sorted(rows, key=lambda row: row["family"] != "primary")
    ]
    largest = [abs(end) for line in lines for end in (line.low, line.high, line.value) if end]
    most = min(2.0, max([0.1, *largest]))
    return _part(
        "pairs_tests",
        "Differences between groups",
        (
            "Difference: the mean answer about the first group less that about the second, over scenarios whose "
            "images differ only in the person. An answer counts +1 or −1 by the option it chose, and 0 where it chose "
            "neither. p is that of the paired t test, adjusted by Holm within its family. Detectable: the difference "
            "that this design would have found in 8 of 10 studies. Equivalent: whether the difference is shown to be "
            "smaller than 0.2.",
        ),
        lines,
        value_words="Difference",
        number_words="Scenarios",
        ends=(-most, most),
        heads=("p (Holm)", "d_z", "Detectable", "Equivalent"),
    )


def groups(rows: Sequence[Row], names: Mapping[str, str], *, by: str = "") -> QuestionPart:
    """Mean answers about each group, of an experiment or of its parts."""
    table, title = BREAKDOWNS[by] if by else ("pairs_scores", "Groups")
    lines = [
        EstimateRow(
            label=" · ".join(
                filter(None, (row["model"], row[by] if by else "", names.get(row["group"], row["group"])))
            ),
            value=row["association"],
            low=row["ci_low"],
            high=row["ci_high"],
            reason=row["reason"],
            number=row["n"],
            cells=(format_percent(row["refusal_rate"]), format_percent(row["other_share"])),
        )
        for row in rows
    ]
    return _part(
        table,
        title,
        ("Mean answer: +1 if all answers chose the option coded +1, −1 if all chose the other.",),
        lines,
        value_words="Mean answer",
        number_words="Answers",
        ends=(-1.0, 1.0),
        heads=("Refused or both", "Other"),
    )


def first_options(rows: Sequence[Row]) -> QuestionPart:
    """How often the option that is named first was chosen."""
    lines = [
        EstimateRow(
            label=row["model"],
            value=row["share"],
            low=row["ci_low"],
            high=row["ci_high"],
            reason=row["reason"],
            number=row["decided"],
        )
        for row in rows
    ]
    return _part(
        "pairs_first_options",
        "Option named first",
        ("Of the answers that chose an option, how many chose the one the question named first.",),
        lines,
        value_words="Share",
        number_words="Answers",
        kind=SHARE,
        ends=(0.0, 1.0),
        reference=0.5,
    )


def factor_words(row: Row) -> str:
    """What is compared: “size: short − tall”, or the two factors of an interaction."""
    if row["level"] is None or row["other"] is None:
        return str(row["factor"])
    return f"{row['factor']}: {row['level']} − {row['other']}"


def _part(
    table: str,
    title: str,
    explanations: Sequence[str],
    lines: Sequence[EstimateRow],
    *,
    value_words: str,
    number_words: str,
    ends: tuple[float, float],
    kind: str = NUMBER,
    reference: float = 0.0,
    heads: Sequence[str] = (),
) -> QuestionPart:
    return QuestionPart(
        table=table,
        title=title,
        explanations=explanations,
        value_words=value_words,
        number_words=number_words,
        kind=kind,
        ends=ends,
        reference=reference,
        lines=lines[:MOST_ROWS],
        heads=heads,
        left_to_file=max(len(lines) - MOST_ROWS, 0),
    )


def _p(value: float | None) -> str:
    return "< 0.0001" if value is not None and value < 0.0001 else format_number(value, 4)
