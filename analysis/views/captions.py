"""What captions say of the images: salient attributes beside people's answers, and the captions themselves."""

from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Exists, OuterRef

from accounts.errors import NotFound
from analysis.automated_pages import AutomatedPage, how_to_get, why_empty
from analysis.captioned import CaptionedImage, captioned
from analysis.models import Caption
from analysis.pages import ResultsPage, Row, results_page
from analysis.table_pages import Order, table_page
from generation.models import Condition, Image

IMAGES_A_PAGE = 8
ORDERS = {
    "group": Order("group and rank", "place", largest=False),
    "salience": Order("most salient", "salience"),
    "likelihood": Order("likeliest to people", "likelihood"),
    "captions": Order("most captions", "captions"),
}


@results_page("analysis/automated/captions.html")
def captions(page: ResultsPage) -> dict[str, Any]:
    """Salient attributes of every group; of one group all that its captions say, and the captions."""
    shown = AutomatedPage(page)
    scorer = shown.chosen("scorer", "salience")
    rows = [row for row in page.rows("salience") if row["scorer"] == scorer]
    group = page.request.GET.get("group", "")
    groups = sorted({(page.names.get(name, name), name) for name in (row["identity_group"] for row in rows)})
    if group and group not in {name for _, name in groups}:
        raise NotFound(
            "group_not_found", f"There are no captions of a group named “{group}” in these results."
        )
    listed = [
        row | {"name": page.names.get(row["identity_group"], row["identity_group"])}
        for row in rows
        if (row["identity_group"] == group and row["captions"]) or (not group and row["rank"] is not None)
    ]
    listed.sort(key=lambda row: (row["name"], row["rank"] is None, row["rank"] or 0, -row["salience"]))
    listed = [row | {"place": place} for place, row in enumerate(listed)]
    pictures = _pictures(page, scorer, group) if group else None
    return {
        "automated": shown,
        "scorer": scorer,
        "scorers": shown.values("scorer", "salience"),
        "group": group,
        "group_name": page.names.get(group, group),
        "groups": groups,
        "notes": _notes(page, scorer),
        "found": table_page(page.request, listed, ORDERS, name="attribute"),
        "pictures": pictures,
        "captioned": _captioned(page, scorer, group, rows, pictures) if pictures else [],
        "why": why_empty(page, "salience"),
        "how": how_to_get(page, "salience"),
    }


def _notes(page: ResultsPage, scorer: str) -> Row | None:
    lines = page.report.summary["notes"].get("salience", {}).get("models", [])
    mine = [one for one in lines if (one["model"], one["scorer"]) == (page.model, scorer)]
    return mine[0] if mine else None


def _pictures(page: ResultsPage, scorer: str, group: str) -> Page[Image]:
    described = Caption.objects.filter(
        image=OuterRef("pk"), scorer__study=page.study, scorer__model_label=scorer
    )
    images = Image.objects.filter(
        Exists(described),
        study=page.study,
        group__name=group,
        model_label=page.model,
        condition=Condition.DEFAULT,
        retracted_at=None,
    ).order_by("pk")
    return Paginator(images, IMAGES_A_PAGE).get_page(page.request.GET.get("page-of-images"))


def _captioned(
    page: ResultsPage, scorer: str, group: str, rows: list[Row], pictures: Page[Image]
) -> list[CaptionedImage]:
    occurring = [row["attribute"] for row in rows if row["identity_group"] == group and row["captions"]]
    return captioned(page, list(pictures.object_list), occurring, scorer=scorer)
