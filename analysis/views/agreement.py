"""How much annotators agree, what they agree on, and where they do not."""

from typing import Any

from django.core.paginator import Paginator

from analysis.examples import answers_of
from analysis.pages import ResultsPage, results_page
from analysis.plots.figures import alpha_plot, consensus_plot
from analysis.results import DIVISIVE
from annotation.models import Campaign
from generation.models import Image
from generation.serving import SMALL, image_url

MARKING, LIKERT = str(Campaign.Kind.STEREOTYPE_MARKING), str(Campaign.Kind.ATTRIBUTE_LIKERT)
ALPHA = "krippendorff_alpha_nominal"
ITEMS_A_PAGE = 25
ROWS_A_PAGE = 500
RULES = {
    "unanimous": "every annotator agrees",
    "majority": "more than half agree",
    "mean": "the mean is at least",
}


@results_page("analysis/agreement.html")
def agreement(page: ResultsPage) -> dict[str, Any]:
    """Coefficients, plots by group and attribute, and the most divisive items with who said what."""
    pages = Paginator(page.rows(DIVISIVE) if page.headline else [], ITEMS_A_PAGE)
    shown = pages.get_page(page.request.GET.get("page"))
    items = [row for row in shown.object_list if row["image"]]
    found = Image.objects.filter(study=page.study, public_id__in=[row["image"] for row in items])
    answers = answers_of(page, list(found), [row["attribute"] for row in items])
    urls = {str(image.public_id): image_url(image, viewer=page.viewer, size=SMALL) for image in found}
    for row in items:
        row["answers"] = answers.get((row["image"], row["attribute"]), [])
        row["url"] = urls.get(row["image"], "")
        row["name"] = page.names.get(row["identity_group"], row["identity_group"])
    return {
        "marks": page.agreement(MARKING, "all"),
        "campaigns": page.agreement(MARKING, "campaign"),
        "ratings": page.agreement(LIKERT, "all"),
        "by_group": alpha_plot(
            page.agreement(MARKING, "identity_group", ALPHA), page.names, "identity_group"
        ),
        "by_attribute": alpha_plot(page.agreement(MARKING, "attribute", ALPHA), {}, "attribute"),
        "items": items,
        "item_pages": shown,
    }


@results_page("analysis/visual_attributes.html")
def visual_attributes(page: ResultsPage) -> dict[str, Any]:
    """The ratings of attributes, and what other rules would call visual."""
    rule = page.request.GET.get("rule", "unanimous")
    rule = rule if rule in RULES else "unanimous"
    threshold = _threshold(page.request.GET.get("threshold", "4"))
    rows = page.table("visual_attributes")
    for row in rows:
        row["chosen"] = _visual(row, rule, threshold)
    words = page.request.GET.get("q", "").strip().lower()
    found = [row for row in rows if words in row["attribute"]]
    pages = Paginator(sorted(found, key=lambda row: (-row["mean"], row["attribute"])), ROWS_A_PAGE)
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


@results_page("analysis/annotators.html")
def annotators(page: ResultsPage) -> dict[str, Any]:
    """How each annotator worked, by pseudonym."""
    rows = page.table("annotators")
    pages = Paginator(sorted(rows, key=lambda row: -row["judgements"]), ROWS_A_PAGE)
    return {
        "rows": pages.get_page(page.request.GET.get("page")),
        "total": len(rows),
        "flagged": sum(bool(row["flags"]) for row in rows),
        "ids": page.report.summary["annotator_ids"],
    }


def _threshold(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 4.0
    return min(max(value, 1.0), 5.0)


def _visual(row: dict[str, Any], rule: str, threshold: float) -> bool:
    if rule == "mean":
        return bool(row["mean"] >= threshold)
    return bool(row["unanimous"] if rule == "unanimous" else row["majority"])
