"""All identity groups beside each other, and one of them."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator

from accounts.errors import NotFound
from analysis.examples import judged_images, with_boxes
from analysis.pages import ResultsPage, Row, results_page
from analysis.plots.axis import ratio_axis
from analysis.plots.figures import likelihood_plot

IMAGES_A_PAGE = 12


@results_page("analysis/groups.html")
def groups(page: ResultsPage) -> dict[str, Any]:
    """The table of groups; region and name are filtered by the address."""
    region, words = page.request.GET.get("region", ""), page.request.GET.get("q", "").strip()
    rows = _group_rows(page)
    axis = ratio_axis(
        [value for row in rows for value in (row["theta_low"], row["theta"], row["theta_high"])], "θ"
    )
    shown = [
        row
        for row in rows
        if (not region or row["region"] == region) and (not words or words.lower() in row["name"].lower())
    ]
    return {
        "rows": shown,
        "axis": axis,
        "region": region,
        "q": words,
        "regions": sorted({row["region"] for row in rows if row["region"]}),
        "total": len(rows),
    }


@results_page("analysis/group.html")
def group(page: ResultsPage, group: str) -> dict[str, Any]:
    """One group: its attributes by likelihood, and its images with everybody's boxes."""
    found = page.groups.get(group)
    mine = [row for row in page.rows("likelihood") if row["identity_group"] == group]
    if found is None or not mine:
        raise NotFound("group_not_found", f"There are no results of a group named “{group}” in this study.")
    pages = Paginator(judged_images(page, found), IMAGES_A_PAGE)
    pictures = pages.get_page(page.request.GET.get("page"))
    alpha = page.agreement("stereotype_marking", "identity_group", "krippendorff_alpha_nominal")
    return {
        "group": found,
        "group_query": f"?{urlencode({'group': group})}{page.and_model}",
        "row": next(row for row in _group_rows(page) if row["identity_group"] == group),
        "plot": likelihood_plot(mine, found.display_name),
        "attributes": sorted(mine, key=lambda row: -row["likelihood"]),
        "largest": max(row["ci_high"] or row["likelihood"] for row in mine),
        "alpha": next((row for row in alpha if row["scope_value"] == group), None),
        "pictures": pictures,
        "examples": with_boxes(page, list(pictures.object_list)),
    }


def _group_rows(page: ResultsPage) -> list[Row]:
    offensiveness = {row["identity_group"]: row for row in page.rows("offensiveness")}
    regions = {name: group.region for name, group in page.groups.items()}
    judged = _judgements(page.rows("likelihood"))
    return [
        {
            **row,
            "name": page.names.get(row["identity_group"], row["identity_group"]),
            "region": regions.get(row["identity_group"], ""),
            "judgements": judged[row["identity_group"]],
            "offence": offensiveness[row["identity_group"]],
        }
        for row in page.rows("tendency")
    ]


def _judgements(likelihood: Iterable[Row]) -> dict[str, int]:
    total: dict[str, int] = {}
    for row in likelihood:
        total[row["identity_group"]] = total.get(row["identity_group"], 0) + row["shown"]
    return total
