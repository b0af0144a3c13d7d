"""What models answered about images that differ only in the person: differences between groups, with intervals."""

from dataclasses import dataclass
from typing import Any

from analysis.pages.probing import parts
from analysis.pages.results_page import ResultsPage, results_page
from analysis.results.summaries.questions.part import QuestionPart
from foundation.errors import NotFound


@dataclass(frozen=True)
class ExperimentSection:
    """An experiment with its tables."""

    name: str
    parts: list[QuestionPart]


@results_page("analysis/probing/answers.html")
def probes(page: ResultsPage) -> dict[str, Any]:
    """One section per experiment; `by` in the address breaks the groups' scores down."""
    summary = page.probes
    if summary is None:
        return {"probes": None}
    by = page.request.GET.get("by", "")
    if by and by not in parts.BREAKDOWNS:
        raise NotFound("breakdown_not_found", f"Answers are not broken down by “{by}”.")
    table = parts.BREAKDOWNS[by][0] if by else "pairs_scores"
    return {
        "probes": summary,
        "by": by,
        "breakdowns": [(name, title) for name, (_, title) in parts.BREAKDOWNS.items()],
        "sections": [
            ExperimentSection(
                name=experiment,
                parts=[
                    parts.differences(_of(page, "pairs_tests", experiment)),
                    parts.groups(_of(page, table, experiment), page.names, by=by),
                ],
            )
            for experiment in summary["experiments"]
        ],
        "first_options": parts.first_options(_of(page, "pairs_first_options", None)),
        "not_counted": summary["not_counted"].items(),
    }


def _of(page: ResultsPage, table: str, experiment: str | None) -> list[dict[str, Any]]:
    return [row for row in page.table(table) if row["experiment"] == experiment]
