"""The parts of a question by its measures."""

from collections.abc import Callable

from analysis.plots.plot import Plot
from analysis.results.questions.registry import MEASURES
from analysis.results.summaries.questions import answers, preferences
from analysis.results.summaries.questions.estimate_tables import QuestionPart, QuestionSource


def parts_of(source: QuestionSource) -> list[QuestionPart]:
    """The parts of a question, in the order of its measures; a table without rows has no part."""
    built: dict[str, QuestionPart | None] = {}
    for name in source.measures:
        table = MEASURES[name].table
        if table not in built:
            built[table] = _PARTS[table](source)
        if table in {"preferences", "rankings"}:
            built.setdefault("preference_pairs", preferences.pairs(source))
    return [part for part in built.values() if part is not None and part.lines]


def plot_of(source: QuestionSource, name: str) -> Plot | None:
    """One plot of a question, by the name of its files."""
    return next((part.plot for part in parts_of(source) if part.plot and part.plot.name == name), None)


_PARTS: dict[str, Callable[[QuestionSource], QuestionPart]] = {
    "preferences": lambda source: preferences.leaderboard(
        source, "preferences", "comparisons", "Comparisons"
    ),
    "rankings": lambda source: preferences.leaderboard(source, "rankings", "rankings", "Rankings"),
    "group_leaderboards": preferences.group_leaderboard,
    "position_bias": preferences.position,
    "scales": answers.scales,
    "choices": answers.choices,
    "question_differences": answers.differences,
    "question_agreement": answers.agreement,
    "texts": answers.texts,
    "marked_words": answers.marked_words,
}
