"""Summaries of answers to choices: by experiment, by order of the options, by pair of models."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from analysis.plots.plot import Plot
from analysis.results.summaries.probing import comparisons, scores
from analysis.results.summaries.probing.probe_rows import ProbeTableRows
from analysis.results.summaries.questions.estimate_tables import QuestionPart

Part = Callable[[ProbeTableRows], QuestionPart]
# By the name of the plot's files.
_PLOTTED: Mapping[str, Part] = {
    "probe-differences": comparisons.differences,
    "probe-groups": scores.groups,
    "probe-refusals": scores.refusals,
    "probe-models": partial(comparisons.models_compared, measure="difference"),
    "probe-model-means": partial(comparisons.models_compared, measure="association"),
    "probe-orders": comparisons.order_effects,
    "probe-first-options": scores.first_options,
}
PLOTS = tuple(_PLOTTED)


def experiment_parts(rows: ProbeTableRows, *, by: str = "") -> list[QuestionPart]:
    """The parts of one experiment; `by` breaks the scores of groups down."""
    if by:
        more = [comparisons.question_differences(rows)] if by == "question" else []
        return _filled(scores.groups(rows, by=by), *more)
    return _filled(comparisons.differences(rows), scores.groups(rows), scores.refusals(rows))


def order_parts(rows: ProbeTableRows) -> list[QuestionPart]:
    """The effect of the order of options, over all experiments."""
    return _filled(comparisons.order_effects(rows), scores.first_options(rows))


def model_parts(rows: ProbeTableRows) -> list[QuestionPart]:
    """How models differ in one experiment."""
    measures = ("difference", "association")
    return _filled(*(comparisons.models_compared(rows, measure=measure) for measure in measures))


def parts_explained(parts: Sequence[QuestionPart], *, explained: bool) -> list[QuestionPart]:
    """The parts, without explanations that an earlier section has already given."""
    return [part if explained else replace(part, explanations=()) for part in parts]


def plot_of(rows: ProbeTableRows, name: str) -> Plot | None:
    """One plot, by the name of its files."""
    return _PLOTTED[name](rows).plot


def _filled(*parts: QuestionPart) -> list[QuestionPart]:
    return [part for part in parts if part.lines]
