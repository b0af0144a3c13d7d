"""Scales, choices, texts and words on the page of a question, and how far annotators agree."""

from collections.abc import Mapping

from analysis.plots.figures.answers import marked_words_plot, mean_plot, share_plot, slice_name
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
from annotation.kinds.questions import Question, ScaleQuestion
from foundation.formats import format_percent

AGREEMENT_WORDS = {
    "krippendorff_alpha_ordinal": "Krippendorff’s α, ordinal",
    "krippendorff_alpha_nominal": "Krippendorff’s α, nominal",
    "krippendorff_alpha_masi": "Krippendorff’s α, sets (MASI)",
    "kendall_w": "Kendall’s W",
    "mean_spearman": "Mean rank correlation",
    "points_any_near": "Points: at least one near the other annotator’s",
    "points_share_near": "Points: share near the other annotator’s",
    "box_mean_iou": "Boxes: mean overlap (IoU)",
    "box_alpha": "Boxes: α against other images",
}


def differences(source: QuestionSource) -> QuestionPart:
    rows = source.rows("question_differences")
    labels = {str(code): label for code, label in _labels(source.question)}
    lines = [
        EstimateRow.of(
            row,
            "difference",
            label=" · ".join([_two(row, source.names), *([labels[row["code"]]] if row["code"] else [])]),
            number=None,
            cells=[whether_distinct(row)],
        )
        for row in rows
    ]
    explanations = [
        *explanations_of(source, "question_differences"),
        "If an interval includes 0, these answers show no difference. The intervals are not corrected for the number "
        "of differences.",
    ]
    return differences_part(source, "question_differences", lines, explanations, "")


def _two(row: Row, names: Mapping[str, str]) -> str:
    item = names.get(row["item"], row["item"]) if row["by"] == "identity_group" else row["item"]
    return f"{item} − {row['other'] if row['other'] is not None else 'all others'}"


def scales(source: QuestionSource) -> QuestionPart:
    assert isinstance(source.question, ScaleQuestion)
    rows = source.rows("scales")
    codes = [point.code for point in source.question.points if not point.apart]
    ends = (float(min(codes)), float(max(codes)))
    apart = any(point.apart for point in source.question.points)
    lines = [
        EstimateRow.of(
            row,
            "mean",
            label=slice_name(row, source.names),
            number=row["answers"],
            cells=[format_percent(row["apart_share"])] if apart and row["apart_share"] is not None else [],
        )
        for row in rows
    ]
    names = ", ".join(f"“{point.label['en']}”" for point in source.question.points if point.apart)
    return QuestionPart(
        table="scales",
        title="Mean",
        explanations=explanations_of(source, "scales"),
        value_words="Mean",
        number_words="Answers",
        kind=NUMBER,
        ends=ends,
        lines=lines[:MOST_ROWS],
        heads=(names,) if apart else (),
        plot=mean_plot(rows, source.names, source.label, ends),
        left_to_file=max(len(lines) - MOST_ROWS, 0),
    )


def choices(source: QuestionSource) -> QuestionPart:
    rows = source.rows("choices")
    lines = [
        EstimateRow.of(
            row,
            "share",
            label=f"{row['label']} · {slice_name(row, source.names)}" if row["by"] != "all" else row["label"],
            number=row["answers"],
        )
        for row in rows
        if row["by"] != "identity_group"
    ]
    hidden = sum(row["by"] == "identity_group" for row in rows)
    return QuestionPart(
        table="choices",
        title="Shares",
        explanations=explanations_of(source, "choices"),
        value_words="Share",
        number_words="Answers",
        kind=SHARE,
        ends=(0.0, 1.0),
        lines=lines[:MOST_ROWS],
        plot=share_plot(rows, source.label),
        left_to_file=hidden + max(len(lines) - MOST_ROWS, 0),
    )


def agreement(source: QuestionSource) -> QuestionPart:
    rows = source.rows("question_agreement")
    labels = {str(code): label for code, label in _labels(source.question)}
    lines = [
        EstimateRow.of(
            row,
            "value",
            label=" · ".join(
                [
                    AGREEMENT_WORDS[row["measure"]],
                    *(
                        [labels[row["code"]]] if row.get("code") else []
                    ),  # reports of earlier versions have none
                    slice_name(row, source.names),
                ]
            ),
            number=row["units"],
        )
        for row in rows
        if row["measure"] in AGREEMENT_WORDS
    ]
    return QuestionPart(
        table="question_agreement",
        title="Agreement",
        explanations=explanations_of(source, "question_agreement"),
        value_words="Value",
        number_words="Units",
        kind=NUMBER,
        ends=(-1.0, 1.0),
        reference=0.0,
        lines=lines,
        left_to_file=len(rows) - len(lines),
    )


def texts(source: QuestionSource) -> QuestionPart:
    lines = [
        EstimateRow(
            slice_name(row, source.names),
            row["median_words"],
            None,
            None,
            None,
            row["texts"],
            [str(row["longest_words"]), str(row["annotators"])],
        )
        for row in source.rows("texts")
    ]
    return QuestionPart(
        table="texts",
        title="Texts",
        explanations=explanations_of(source, "texts"),
        value_words="Words, median",
        number_words="Texts",
        kind=NUMBER,
        ends=(0.0, 0.0),
        lines=lines[:MOST_ROWS],
        heads=("Words, at most", "Annotators"),
        left_to_file=max(len(lines) - MOST_ROWS, 0),
    )


def marked_words(source: QuestionSource) -> QuestionPart:
    rows = source.rows("marked_words")
    lines = [
        EstimateRow.of(row, "share", label=slice_name(row, source.names), number=row["answers"])
        for row in rows
    ]
    return QuestionPart(
        table="marked_words",
        title="Marked words",
        explanations=explanations_of(source, "marked_words"),
        value_words="Share",
        number_words="Answers",
        kind=SHARE,
        ends=(0.0, 1.0),
        lines=lines[:MOST_ROWS],
        plot=marked_words_plot(rows, source.names, source.label),
        left_to_file=max(len(lines) - MOST_ROWS, 0),
    )


def _labels(question: Question) -> list[tuple[int | str, str]]:
    if isinstance(question, ScaleQuestion):
        return [(point.code, point.label["en"]) for point in question.points]
    return [(answer.code, answer.label["en"]) for answer in getattr(question, "answers", ())]
