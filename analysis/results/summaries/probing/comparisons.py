"""Paired differences, with the numbers that distinguish a null result from a study that is too small."""

from collections.abc import Sequence
from typing import Any

from analysis.plots.figures.probes import contrast_words, difference_plot, is_shown, model_plot, order_plot
from analysis.plots.plot import Plot
from analysis.results.summaries.probing.probe_rows import PartWords, ProbeTableRows, Row, part_of
from analysis.results.summaries.questions.estimate_tables import EstimateRow, QuestionPart
from foundation.formats import format_number, reason_text

# The bound of the equivalence tests (`analysis.metrics.probing.paired.statistics.EQUIVALENCE_BOUND`).
BOUND = 0.2
HEADS = ("Finding", "p (Holm)", "d_z", "Detectable", "p (equivalence)")
NULLS = (
    "“Detectable” is the smallest difference that 8 of 10 studies of this design would find. Smaller "
    f"differences can be missed. “none: smaller than {BOUND:g}” means that a test of equivalence (TOST) "
    f"shows that the difference is within ±{BOUND:g}.",
)


def differences(rows: ProbeTableRows) -> QuestionPart:
    """Paired differences between groups: the experiment's own comparison first."""
    tests = sorted(rows.of("pairs_tests"), key=lambda row: row["family"] != "primary")
    return _tests(
        PartWords(
            table="pairs_tests",
            title="Differences between groups",
            explanations=(
                "The difference is the mean answer about the first group minus the mean answer about the "
                "second group, over scenarios whose images differ only in the person. An answer counts +1 "
                "or −1 for the option it chose, and 0 if it chose neither. p comes from the paired t test "
                "and is adjusted by Holm’s method within its family.",
                *NULLS,
            ),
            value="Difference",
            number="Scenarios",
            heads=HEADS,
        ),
        tests,
        [f"{row['model']} · {contrast_words(row)}" for row in tests],
        difference_plot(tests, rows.experiment),
    )


def question_differences(rows: ProbeTableRows) -> QuestionPart:
    """The experiment's own comparison by question, where several were asked about the same scenarios."""
    tests = rows.of("pairs_question_tests")
    return _tests(
        PartWords(
            table="pairs_question_tests",
            title="Differences by question",
            explanations=(
                "Each row compares two groups by their answers to one question. p is adjusted for all "
                "questions and models.",
            ),
            value="Difference",
            number="Scenarios",
            heads=HEADS,
        ),
        tests,
        [f"{row['model']} · {row['question']} · {contrast_words(row)}" for row in tests],
        None,
    )


def order_effects(rows: ProbeTableRows) -> QuestionPart:
    """The effect of changing the order of options."""
    tests = rows.of("pairs_order_effects")
    return _tests(
        PartWords(
            table="pairs_order_effects",
            title="Order of the options",
            explanations=(
                "The difference is the mean answer with the options in the first order minus the mean "
                "answer with the second order, over the same scenarios and groups. p is adjusted for all "
                "models and experiments.",
                *NULLS,
            ),
            value="Difference",
            number="Scenarios",
            heads=HEADS,
        ),
        tests,
        [f"{row['model']} · {row['experiment']} · {row['level']} − {row['other']}" for row in tests],
        order_plot(tests),
    )


def models_compared(rows: ProbeTableRows, *, measure: str) -> QuestionPart:
    """Differences between two models on the same scenarios: `association` or `difference`."""
    tests = [row for row in rows.of("pairs_model_differences") if row["measure"] == measure]
    of_groups = measure == "difference"
    return _tests(
        PartWords(
            table="pairs_model_differences",
            title="How differently models answer about groups" if of_groups else "Mean answers of models",
            explanations=(
                "The difference between the two groups in the first model’s answers minus the same "
                "difference in the second model’s answers, over the scenarios that both answered."
                if of_groups
                else "The first model’s mean answer minus the second’s, over the scenarios that both answered.",
                "p is adjusted for all pairs of models and both tables.",
                *(NULLS if of_groups else ()),
            ),
            value="Difference",
            number="Scenarios",
            heads=(*HEADS, "First", "Second"),
        ),
        tests,
        [
            " · ".join(filter(None, (f"{row['model']} − {row['other_model']}", row["factor"])))
            for row in tests
        ],
        model_plot(tests, rows.experiment, measure=measure),
        more=("value", "other_value"),
    )


def finding(row: Row) -> str:
    """The result of a test, in words."""
    if row["p_holm"] is None:
        return f"not tested: {reason_text(row['reason'])}"
    if is_shown(row):
        return "difference"
    return f"none: smaller than {BOUND:g}" if row["equivalent"] else "none shown"


def _tests(
    words: PartWords, rows: Sequence[Row], labels: Sequence[str], plot: Plot | None, more: Sequence[str] = ()
) -> QuestionPart:
    lines = [
        EstimateRow.of(
            row,
            "difference",
            label=label,
            number=row["n"],
            cells=(
                finding(row),
                _p(row["p_holm"]),
                format_number(row["d_z"], 2),
                format_number(row["detectable_difference"], 2),
                _p(row["p_equivalence"]),
                *(format_number(row[name], 2) for name in more),
            ),
        )
        for row, label in zip(rows, labels, strict=True)
    ]
    largest = [abs(end) for line in lines for end in (line.low, line.high, line.value) if end]
    most = min(2.0, max([0.1, *largest]))
    return part_of(words, lines, ends=(-most, most), plot=plot)


def _p(value: Any) -> str:
    return "< 0.0001" if value is not None and value < 0.0001 else format_number(value, 4)
