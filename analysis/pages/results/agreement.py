"""Pages about annotators: agreement, ratings of attributes, and each annotator's work."""

from math import isfinite
from typing import Any

from django.core.paginator import Paginator

from analysis.pages.results_page import ResultsPage, results_page
from analysis.plots.figures.judgements import alpha_plot, consensus_plot, overlap_plot
from analysis.results.schema import LIKERT, MARKING
from analysis.results.summaries.language_rows import language_rows

ALPHA = "krippendorff_alpha_nominal"
ROWS_A_PAGE = 500
ANNOTATORS_A_PAGE = 200
# Orders of annotators: words, and 1 for ascending or -1 for descending.
ORDERS = {
    "judgements": ("most judgements", -1),
    "agreement_with_others": ("least agreement with others", 1),
    "gold_accuracy": ("least gold accuracy", 1),
    "self_consistency": ("least self-consistency", 1),
    "median_seconds": ("fastest", 1),
}
RULES = {
    "unanimous": "every annotator agrees",
    "majority": "more than half agree",
    "mean": "the mean is at least",
}


@results_page("analysis/results/agreement.html")
def agreement(page: ResultsPage) -> dict[str, Any]:
    """Show coefficients over everything and by campaign, overlap of boxes, and α by group and attribute."""
    overlap = page.rows("iou_distribution") if page.headline else []
    return {
        "marks": page.agreement(MARKING, "all"),
        "campaigns": page.agreement(MARKING, "campaign"),
        "ratings": page.agreement(LIKERT, "all"),
        "by_group": alpha_plot(
            page.agreement(MARKING, "identity_group", ALPHA), page.names, "identity_group"
        ),
        "by_attribute": alpha_plot(page.agreement(MARKING, "attribute", ALPHA), {}, "attribute"),
        "languages": language_rows(page.optional("by_language")),
        "overlap": overlap_plot(overlap),
        "overlap_rows": overlap,
    }


@results_page("analysis/results/visual_attributes.html")
def visual_attributes(page: ResultsPage) -> dict[str, Any]:
    """Show the ratings of attributes, and which attributes are visual by a chosen rule."""
    rule = page.request.GET.get("rule", "unanimous")
    rule = rule if rule in RULES else "unanimous"
    threshold = _threshold(page.request.GET.get("threshold", "4"))
    rows = page.table("visual_attributes")
    for row in rows:
        row["chosen"] = _visual(row, rule, threshold)
    words = page.request.GET.get("q", "").strip().lower()
    matching = [row for row in rows if words in row["attribute"]]
    pages = Paginator(sorted(matching, key=lambda row: (-row["mean"], row["attribute"])), ROWS_A_PAGE)
    return {
        "rows": rows,
        "shown": pages.get_page(page.request.GET.get("page")),
        "q": words,
        "rule": rule,
        "rules": RULES,
        "threshold": threshold,
        "chosen": sum(row["chosen"] for row in rows),
        "consensus": consensus_plot(
            [row for row in page.table("consensus") if row["campaign_kind"] == LIKERT]
        ),
        "agreement": page.agreement(LIKERT, "all"),
    }


@results_page("analysis/results/annotators.html")
def annotators(page: ResultsPage) -> dict[str, Any]:
    """Show each annotator's work by pseudonym, for all annotators or only those who are flagged."""
    rows = page.table("annotators")
    only, words = page.request.GET.get("flagged") == "1", page.request.GET.get("q", "").strip().upper()
    order = page.request.GET.get("order", "judgements")
    order = order if order in ORDERS else "judgements"
    matching = [row for row in rows if (row["flags"] or not only) and words in row["annotator"]]
    matching.sort(
        key=lambda row: (row[order] is None, (row[order] or 0) * ORDERS[order][1], row["annotator"])
    )
    page_rows = Paginator(matching, ANNOTATORS_A_PAGE).get_page(page.request.GET.get("page"))
    for row in page_rows.object_list:
        row["flag_words"] = (row["flag_reasons"] or "").split("; ") if row["flags"] else []
    return {
        "rows": page_rows,
        "total": len(rows),
        "only": only,
        "q": words,
        "order": order,
        "orders": {name: text for name, (text, _) in ORDERS.items()},
        "flagged": sum(bool(row["flags"]) for row in rows),
        "ids": page.report.summary["annotator_ids"],
    }


def _threshold(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 4.0
    return min(max(value, 1.0), 5.0) if isfinite(value) else 4.0


def _visual(row: dict[str, Any], rule: str, threshold: float) -> bool:
    if rule == "mean":
        return bool(row["mean"] >= threshold)
    return bool(row["unanimous"] if rule == "unanimous" else row["majority"])
