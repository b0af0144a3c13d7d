"""Pages of all identity groups, with a map and a table, and of one group."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.urls import reverse

from analysis.pages.examples import judged_images, with_boxes
from analysis.pages.machine_answers import mean_scores
from analysis.pages.results_page import ResultsPage, Row, results_page
from analysis.pages.table_page import Order, table_page
from analysis.plots.axis import ratio_axis
from analysis.plots.figures.judgements import likelihood_plot
from analysis.plots.figures.maps import map_plot, measure_named, strip_plot
from analysis.plots.maps.country_values import MEASURES, STEREOTYPE, on_the_map
from analysis.plots.plot import Plot
from analysis.results.schema import MARKING
from analysis.results.summaries.group_rows import group_rows, of_groups, on_map
from foundation.errors import NotFound
from studies.models import StudyGroup

IMAGES_A_PAGE = 12
ORDERS = {
    "name": Order("alphabet", "name", largest=False),
    "theta": Order("largest θ", "theta"),
    "smoothed": Order("largest θ smoothed", "theta_smoothed"),
    "smallest": Order("smallest θ smoothed", "theta_smoothed", largest=False),
    "offensiveness": Order("most offensive", "offensiveness"),
    "judgements": Order("most judgements", "judgements"),
}


@results_page("analysis/results/groups.html")
def groups(page: ResultsPage) -> dict[str, Any]:
    """Show the map and the table of groups; the address has the measure, region, country and name."""
    rows, chosen = rows_of(page), _chosen(page)
    axis = ratio_axis(
        [value for row in rows for value in (row["theta_low"], row["theta"], row["theta_high"])],
        "θ",
        estimates=[row["theta"] for row in rows],
    )
    found = table_page(page.request, _shown(rows, chosen), ORDERS, name="name")
    chosen_map = page.request.GET.get("map", "")
    # By default, the map shows the measure that the table is ordered by.
    measure = measure_named(chosen_map or found.order)
    filters = {name: value for name, value in chosen.items() if value}
    return {
        **chosen,
        "found": found,
        "chosen_map": chosen_map,
        "axis": axis,
        "regions": sorted({row["region"] for row in rows if row["region"]}),
        "total": len(rows),
        "measure": measure,
        "measures": MEASURES.values(),
        "map": the_map(page, measure.key),
        "strip": the_strip(page, measure.key),
        "and_filters": f"&{urlencode(filters)}{page.and_model}" if filters else page.and_model,
        "plot_query": f"?{urlencode(filters)}{page.and_model}" if filters else page.query,
    }


def rows_of(page: ResultsPage) -> list[Row]:
    """Return a row with all measures for each group of the model shown."""
    return group_rows(
        page.rows("tendency"), page.rows("offensiveness"), page.rows("likelihood"), of_groups(page.groups)
    )


def _chosen(page: ResultsPage) -> dict[str, str]:
    return {name: page.request.GET.get(name, "").strip() for name in ("region", "country", "q")}


def _shown(rows: list[Row], chosen: dict[str, str]) -> list[Row]:
    return [
        row
        for row in rows
        if chosen["region"] in ("", row["region"])
        and chosen["country"] in ("", row["map_code"])
        and chosen["q"].lower() in row["name"].lower()
    ]


def the_map(page: ResultsPage, key: str) -> Plot | None:
    """Return the map of one measure, or None if no group selected by the address can be placed on it."""

    def url(together: Sequence[Mapping[str, Any]]) -> str:
        if len(together) == 1:
            place = {"study": page.study.slug, "group": together[0]["identity_group"]}
            return reverse("analysis:group", kwargs=place) + page.query
        return f"?{urlencode({'country': together[0]['map_code']})}{page.and_model}#groups"

    rows = _shown(rows_of(page), _chosen(page))
    mapped_rows, places = on_map(MEASURES[key], rows, page.rows("likelihood"), page.epsilon, url)
    return map_plot(MEASURES[key], places, mapped_rows) if mapped_rows else None


def the_strip(page: ResultsPage, key: str) -> Plot | None:
    """Return a ranking of the groups that cannot be placed on the map, or None if there are none."""
    rows = _shown(rows_of(page), _chosen(page))
    beside = [row for row in rows if not on_the_map(row["map_code"])]
    return strip_plot(MEASURES[key], beside, whole=len(beside) == len(rows)) if beside else None


@results_page("analysis/results/group.html")
def group(page: ResultsPage, group: str) -> dict[str, Any]:
    """Show one group: its attributes by likelihood, and its images with all annotators' boxes."""
    study_group = page.groups.get(group)
    rows = [row for row in page.rows("likelihood") if row["identity_group"] == group]
    if study_group is None or not rows:
        raise NotFound("group_not_found", f"There are no results of a group named “{group}” in this study.")
    pages = Paginator(judged_images(page, study_group), IMAGES_A_PAGE)
    pictures = pages.get_page(page.request.GET.get("page"))
    alpha = page.agreement(MARKING, "identity_group", "krippendorff_alpha_nominal")
    scores = mean_scores(page, study_group, [row["attribute"] for row in rows])
    return {
        "group": study_group,
        "group_query": f"?{urlencode({'group': group})}{page.and_model}",
        "row": next(row for row in rows_of(page) if row["identity_group"] == group),
        "plot": likelihood_plot(rows, study_group.display_name),
        "attributes": [
            row | {"scores": [scores[scorer].get(row["attribute"]) for scorer in scores]}
            for row in sorted(rows, key=lambda row: -row["likelihood"])
        ],
        "scorers": list(scores),
        "largest": max(row["ci_high"] or row["likelihood"] for row in rows),
        "alpha": next((row for row in alpha if row["scope_value"] == group), None),
        "offensive": _offensive(page, study_group, rows),
        "place": _place(page, group),
        "pictures": pictures,
        "examples": with_boxes(page, list(pictures.object_list)),
    }


def _offensive(page: ResultsPage, group: StudyGroup, cells: list[Row]) -> list[Row]:
    """Return the group's stereotypes with their offensiveness in the resource, most offensive first."""
    columns = ("attribute__text", "offensiveness_stored", "rating_1", "rating_2", "rating_3")
    resource_scores = {row[0]: row[1:] for row in group.associations.values_list(*columns)}
    rows = [
        {
            **cell,
            "stored": resource_scores[cell["attribute"]][0],
            "ratings": resource_scores[cell["attribute"]][1:],
        }
        for cell in cells
        if cell["role"] == STEREOTYPE and cell["attribute"] in resource_scores
    ]
    from_ratings = page.report.parameters["offensiveness_source"] == "ratings"
    for row in rows:
        ratings = [rating for rating in row["ratings"] if rating is not None]
        row["unrated"] = not ratings and not row["stored"]
        row["score"] = (
            None if row["unrated"] else fmean(ratings) if from_ratings and ratings else row["stored"]
        )
        row["given"] = ", ".join(f"{rating:g}" for rating in ratings)
    return sorted(rows, key=lambda row: (row["score"] is None, -(row["score"] or 0.0), row["attribute"]))


def _place(page: ResultsPage, group: str) -> dict[str, int] | None:
    """Return the group's rank by θ smoothed and the number of ranked groups."""
    ranked = [row for row in page.rows("sensitivity_ranks") if row["scenario"] == "baseline"]
    group_row = next(
        (row for row in ranked if row["identity_group"] == group and row["rank"] is not None), None
    )
    of = sum(row["rank"] is not None for row in ranked)
    return None if group_row is None else {"rank": group_row["rank"], "of": of}
