"""Summaries of people's review of codings: agreement, the rules' errors, and the effect of people's codings."""

from analysis.results.summaries.probing.probe_rows import PartWords, ProbeTableRows, Row, part_of
from analysis.results.summaries.questions.estimate_tables import SHARE, EstimateRow, QuestionPart

_COMPARED = {
    "coder_coder": "Two people",
    "rules_people": "Rules and people",
    "model_people": "Model and people",
}
_MEASURES = {
    "alpha": "Krippendorff’s α",
    "kappa": "Fleiss’ κ",
    "error_rate": "Outcome differs from people’s",
    "reversal_rate": "Opposite of people’s",
}
_STRATA = {"all": "all answers", "sure": "sure", "unsure": "not sure"}


def review_parts(rows: ProbeTableRows) -> list[QuestionPart]:
    """Agreement, the rules' errors, and scores compared with the scores by rules alone; none if nobody reviewed
    codings."""
    reviewed = rows.table("pairs_review")
    if not reviewed:
        return []
    agreement = [row for row in reviewed if row["measure"] in {"alpha", "kappa"}]
    errors = [row for row in reviewed if row["measure"] in {"error_rate", "reversal_rate"}]
    return [_agreement(agreement), _errors(errors), _scores(rows)]


def _agreement(reviewed: list[Row]) -> QuestionPart:
    return part_of(
        PartWords(
            table="pairs_review",
            title="Agreement on what answers say",
            explanations=(
                "Agreement between two people who coded each answer independently, and between the newest rules "
                "and people’s decisions. Answers that the rules are not sure of are more frequent in "
                "this sample than among all answers.",
            ),
            value="Agreement",
            number="Answers",
        ),
        [_line(row, _agreement_label(row)) for row in reviewed],
        ends=(-1.0, 1.0),
        plot=None,
    )


def _errors(reviewed: list[Row]) -> QuestionPart:
    return part_of(
        PartWords(
            table="pairs_review",
            title="Errors of the rules",
            explanations=(
                "How often the rules code an answer differently from people. In the row for all answers, the "
                "errors of sure and unsure answers are weighted by how many sure and unsure answers there are, "
                "reviewed or not.",
            ),
            value="Share",
            number="Reviewed",
            heads=("Errors", "Answers"),
        ),
        [
            _line(
                row,
                f"{_MEASURES[row['measure']]} · {_STRATA[row['stratum']]}",
                (f"{row['errors']:,}", f"{row['answers']:,}"),
            )
            for row in reviewed
        ],
        ends=(0.0, 1.0),
        plot=None,
        kind=SHARE,
        reference=None,
    )


def _scores(rows: ProbeTableRows) -> QuestionPart:
    lines = [
        EstimateRow.of(
            row,
            "association",
            label=f"{row['model']} · {row['experiment']} · {rows.name_of(row['group'])}",
            number=row["n"],
            cells=tuple(_signed(row[name]) for name in ("association_rules", "difference")),
        )
        for row in rows.of("pairs_review_scores")
    ]
    words = PartWords(
        table="pairs_review_scores",
        title="Scores with people’s codings",
        explanations=(
            "The mean answer with people’s codings, the mean answer with codings by rules only, "
            "and the difference.",
        ),
        value="Mean answer",
        number="Answers",
        heads=("Rules alone", "Difference"),
    )
    return part_of(words, lines, ends=(-1.0, 1.0), plot=None)


def _line(row: Row, label: str, cells: tuple[str, ...] = ()) -> EstimateRow:
    return EstimateRow.of(row, "value", label=label, number=row["reviewed"], cells=cells)


def _agreement_label(row: Row) -> str:
    coder = row["coder"] if row["compared"] == "model_people" else ""
    return " · ".join(filter(None, (_COMPARED[row["compared"]], coder, _MEASURES[row["measure"]])))


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}"
