"""Comparisons and rankings on the page of a question: the order of items, and which differences are distinct."""

from analysis.plots.figures.answers import strength_plot
from analysis.results.summaries.questions.estimate_tables import (
    MOST_ROWS,
    NUMBER,
    SHARE,
    EstimateRow,
    QuestionPart,
    QuestionSource,
    Row,
    differences_part,
    explanations_of,
    whether_distinct,
)
from foundation.formats import format_number, format_percent


def leaderboard(source: QuestionSource, table: str, number: str, number_words: str) -> QuestionPart:
    rows = sorted(
        source.rows(table), key=lambda row: (row["strength"] is None, -(row["strength"] or 0), row["item"])
    )
    wins = "win_rate" in (rows[0] if rows else {})
    lines = [
        EstimateRow.of(
            row,
            "strength",
            label=source.names.get(row["item"], row["item"]) or "a model without a name",
            number=row[number],
            cells=[_places(row), _win_rate(row) if wins else str(row["first"])],
        )
        for row in rows
    ]
    ends = [abs(end) for row in rows for end in (row["ci_low"], row["ci_high"], row["strength"]) if end]
    most = max([1.0, *ends])
    return QuestionPart(
        table=table,
        title="Strength",
        explanations=explanations_of(source, table),
        value_words="Strength",
        number_words=number_words,
        kind=NUMBER,
        ends=(-most, most),
        reference=0.0,
        lines=lines,
        heads=("Place", "Win rate" if wins else "Ranked first"),
        plot=strength_plot(rows, source.names, source.label),
    )


def group_leaderboard(source: QuestionSource) -> QuestionPart:
    """The leaderboards of all groups, one after the other."""
    rows = sorted(
        source.rows("group_leaderboards"),
        key=lambda row: (
            row["identity_group"],
            row["strength"] is None,
            -(row["strength"] or 0),
            row["item"],
        ),
    )
    wins = source.question.type == "compare"
    lines = [
        EstimateRow.of(
            row,
            "strength",
            label=f"{source.names.get(row['identity_group'], row['identity_group'])} · {row['item']}",
            number=row["answers"],
            cells=[_places(row), _win_rate(row) if wins else str(row["first"])],
        )
        for row in rows
    ]
    ends = [abs(end) for row in rows for end in (row["ci_low"], row["ci_high"], row["strength"]) if end]
    most = max([1.0, *ends])
    return QuestionPart(
        table="group_leaderboards",
        title="Strength by group",
        explanations=explanations_of(source, "group_leaderboards"),
        value_words="Strength",
        number_words="Comparisons" if wins else "Rankings",
        kind=NUMBER,
        ends=(-most, most),
        reference=0.0,
        lines=lines[:MOST_ROWS],
        heads=("Place", "Win rate" if wins else "Ranked first"),
        left_to_file=max(len(lines) - MOST_ROWS, 0),
    )


def _places(row: Row) -> str:
    """The place of an item, and the places it may have."""
    if row["rank"] is None:
        return "—"
    if row["rank_low"] is None or row["rank_low"] == row["rank_high"]:
        return str(row["rank"])
    return f"{row['rank']} ({row['rank_low']} to {row['rank_high']})"


def _win_rate(row: Row) -> str:
    if row["win_rate"] is None:
        return "—"
    if row["win_rate_low"] is None:
        return format_percent(row["win_rate"])
    ends = [format_number(row[end] * 100, 0) for end in ("win_rate_low", "win_rate_high")]
    return f"{format_percent(row['win_rate'])} [{ends[0]}, {ends[1]}]"


def pairs(source: QuestionSource) -> QuestionPart:
    rows = source.rows("preference_pairs")
    lines = [
        EstimateRow.of(
            row,
            "difference",
            label=f"{source.names.get(row['item'], row['item'])} − {source.names.get(row['other'], row['other'])}",
            number=row["comparisons"],
            cells=[whether_distinct(row)],
        )
        for row in rows
    ]
    return differences_part(
        source,
        "preference_pairs",
        lines,
        [
            "The difference in strength between two items. If the interval includes 0, these answers show "
            "no difference."
        ],
        "Comparisons",
    )


def position(source: QuestionSource) -> QuestionPart:
    lines = [
        EstimateRow.of(
            row,
            "share",
            label="The image shown first was preferred",
            number=row["first"] + row["second"],
            cells=[str(row["ties"])],
        )
        for row in source.rows("position_bias")
    ]
    return QuestionPart(
        table="position_bias",
        title="Position",
        explanations=explanations_of(source, "position_bias"),
        value_words="Share",
        number_words="Decided",
        kind=SHARE,
        ends=(0.0, 1.0),
        reference=0.5,
        lines=lines,
        heads=("Ties",),
    )
