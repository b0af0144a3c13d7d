"""The page of captions: salient attributes beside people's answers, and the captions themselves."""

from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Exists, OuterRef

from analysis.models import Caption
from analysis.pages.automated.automated_page import AutomatedPage, how_to_get, why_empty
from analysis.pages.captions import CaptionedImage, captioned
from analysis.pages.results_page import ResultsPage, Row, results_page
from analysis.pages.table_page import Order, table_page
from analysis.results.schema import SALIENT
from foundation.errors import NotFound
from generation.models import Condition, Image

IMAGES_A_PAGE = 8
ORDERS = {
    "group": Order("group and rank", "place", largest=False),
    "salience": Order("most salient", "salience"),
    "likelihood": Order("most often marked by people", "likelihood"),
    "captions": Order("most captions", "captions"),
}


@results_page("analysis/automated/captions.html")
def captions(page: ResultsPage) -> dict[str, Any]:
    """Show the salient attributes of every group; for one group, all its attributes and captions."""
    choices = AutomatedPage(page)
    scorers = sorted(note["scorer"] for note in _notes(page))
    scorer = choices.one_of(scorers, "scorer")
    group = page.request.GET.get("group", "")
    groups = sorted((words, name) for name, words in page.names.items()) if scorer else []
    if group and group not in page.groups:
        raise NotFound("group_not_found", f"There is no group named “{group}” in this study.")
    rows = _rows(page, scorer, group) if scorer else []
    listed = [
        row | {"name": page.names.get(row["identity_group"], row["identity_group"])}
        for row in rows
        if row["captions"]
    ]
    listed.sort(key=lambda row: (row["name"], row["rank"] is None, row["rank"] or 0, -row["salience"]))
    listed = [row | {"place": place} for place, row in enumerate(listed)]
    pictures = _pictures(page, scorer, group) if group else None
    return {
        "automated": choices,
        "scorer": scorer,
        "scorers": scorers,
        "group": group,
        "group_name": page.names.get(group, group),
        "groups": groups,
        "notes": next((note for note in _notes(page) if note["scorer"] == scorer), None),
        "found": table_page(page.request, listed, ORDERS, name="attribute"),
        "pictures": pictures,
        "captioned": _captioned(page, scorer, rows, pictures) if pictures else [],
        "why": why_empty(page, "salience"),
        "how": how_to_get(page, "salience"),
    }


def _rows(page: ResultsPage, scorer: str, group: str) -> list[Row]:
    """Return all rows of one group, or the salient rows of all groups."""
    if group:
        return page.where("salience", identity_group=group, scorer=scorer)
    return page.where(SALIENT, scorer=scorer)


def _notes(page: ResultsPage) -> list[Row]:
    """Return the summary's notes on salience, one per scorer."""
    lines = page.report.summary["notes"].get("salience", {}).get("models", [])
    return [note for note in lines if note["model"] == page.model]


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
    page: ResultsPage, scorer: str, rows: list[Row], pictures: Page[Image]
) -> list[CaptionedImage]:
    occurring = [row["attribute"] for row in rows if row["captions"]]
    return captioned(page, list(pictures.object_list), occurring, scorer=scorer)
