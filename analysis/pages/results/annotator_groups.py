"""Comparison of groups of annotators: differences with intervals, and agreement within and across groups."""

from typing import Any

from django.core.paginator import Paginator

from analysis.pages.results_page import ResultsPage, Row, results_page
from analysis.results.schema import COEFFICIENTS

ROWS_A_PAGE = 100
MEASURES = {
    "theta": "θ",
    "likelihood_stereotype": "L(stereotypes)",
    "likelihood_random": "L(random attributes)",
}
SCOPES = {"all": "over all groups depicted", "identity_group": "of each group depicted"}


@results_page("analysis/results/annotator_groups.html")
def annotator_groups(page: ResultsPage) -> dict[str, Any]:
    """Show differences between groups of annotators by field, measure and scope, largest first."""
    rows = page.rows("annotator_groups")
    fields = sorted({row["field"] for row in rows})
    field = page.request.GET.get("field", "")
    field = field if field in fields else (fields[0] if fields else "")
    scope = page.request.GET.get("scope", "all")
    scope = scope if scope in SCOPES else "all"
    field_rows = [row for row in rows if row["field"] == field]
    measures = [name for name in MEASURES if any(row["measure"] == name for row in field_rows)]
    measure = page.request.GET.get("measure", "")
    measure = measure if measure in measures else (measures[0] if measures else "")
    chosen_rows = [row for row in field_rows if row["scope"] == scope and row["measure"] == measure]
    page_rows = Paginator(sorted(chosen_rows, key=largest_first), ROWS_A_PAGE).get_page(
        page.request.GET.get("page")
    )
    reach = span(chosen_rows)
    notes = page.report.summary["notes"].get("annotator_groups", {})
    return {
        "rows": page_rows,
        "span": reach,
        "start": -reach,
        "field": field,
        "fields": fields,
        "measure": measure,
        "measures": {name: MEASURES[name] for name in measures},
        "scope": scope,
        "scopes": SCOPES,
        "names": page.names,
        "folded": any(row["group_a"] is None for row in field_rows),
        "families": [
            (name, note)
            for name, note in notes.items()
            if isinstance(note, dict) and (note["field"], note["model"]) == (field, page.model)
        ],
        "why": page.report.summary.get("empty_tables", {}).get("annotator_groups", "no_judgements"),
        "agreement": [
            row | {"words": COEFFICIENTS.get(row["measure"], row["measure"])}
            for row in page.rows("annotator_group_agreement")
            if row["field"] == field
        ],
    }


def largest_first(row: Row) -> tuple[bool, float]:
    """Return a sort key: largest absolute difference first, undefined differences last."""
    return row["difference"] is None, -abs(row["difference"] or 0.0)


def span(rows: list[Row]) -> float:
    """Return the largest absolute value of the differences and their intervals, or 1 if there is none."""
    ends = [
        abs(row[name])
        for row in rows
        for name in ("difference", "ci_low", "ci_high")
        if row[name] is not None
    ]
    return max(ends, default=1.0) or 1.0
