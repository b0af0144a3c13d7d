"""The page of disagreement: the most divisive items, each annotator's answers, and shares by group."""

from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.db.models import Count, F, Q
from django.http import HttpResponse

from analysis.pages.examples import answers_of, judged_images
from analysis.pages.results_page import ResultsPage, Row, results_page
from analysis.results.output.csv_tables import rows_to_csv
from analysis.results.schema import DIVISIVE
from analysis.results.summaries.group_shares import FIELDS, shares_by_group
from annotation.lead.page_context import typed
from annotation.models import Judgement, TaskAttribute
from catalog.models import Attribute
from generation.images.signed_urls import SMALL, image_url
from generation.models import Condition, Image
from studies.audit.files import CSV

ITEMS_A_PAGE = 25
MOST_ITEMS = 300
COLUMNS = ("identity_group", "attribute", "image", "marked", "shown")


@results_page("analysis/results/disagreement.html")
def disagreement(page: ResultsPage) -> HttpResponse | dict[str, Any]:
    """Show the most divisive items, optionally of the group or attribute in the address."""
    filters = {name: typed(page.request.GET.get(name)) for name in ("group", "attribute", "by")}
    by = filters["by"] if filters["by"] in FIELDS else ""
    filtered = bool(filters["group"] or filters["attribute"])
    judgements = _judgements(page, filters["group"], filters["attribute"]) if filtered else None
    items = page.rows(DIVISIVE) if page.headline and judgements is None else []
    if judgements is not None:
        items = _divisive(judgements)
    if page.request.GET.get("format") == "csv":
        values = [[row[column] for column in COLUMNS] for row in items]
        return page.file(rows_to_csv(list(COLUMNS), values), "disagreement.csv", CSV)
    item_page = Paginator(items, ITEMS_A_PAGE).get_page(page.request.GET.get("page"))
    cells = page.rows("likelihood")
    query = {name: value for name, value in filters.items() if value}
    return {
        **filters,
        "by": by,
        "fields": FIELDS,
        "filtered": filtered,
        "items": _with_answers(page, [row for row in item_page.object_list if row["image"]]),
        "item_pages": item_page,
        "groups": sorted(
            (page.names.get(name, name), name) for name in {row["identity_group"] for row in cells}
        ),
        "attributes": sorted({row["attribute"] for row in cells}),
        "said_by": _group_shares(page, by, filters["group"]) if by and not filters["attribute"] else None,
        "csv_query": f"?{urlencode(query | {'format': 'csv'})}{page.and_model}",
    }


def _judgements(page: ResultsPage, group: str, attribute: str) -> Any:
    """Return the judgements that count now for one group's images, one attribute, or both."""
    if group and group not in page.groups:
        return Judgement.objects.none()
    if group:
        marks = page.marks(judged_images(page, page.groups[group]))
    else:  # without a list of all images, which may be 200,000
        marks = page.marks_where(
            task__image__study=page.study,
            task__image__model_label=page.model,
            task__image__condition=Condition.DEFAULT,
        )
    if attribute:  # lets the database start with the few tasks that show the attribute
        marks = marks.filter(task__in=TaskAttribute.objects.filter(attribute__text=attribute).values("task"))
    answers = Judgement.objects.filter(annotation__in=marks, present__isnull=False)
    return answers.filter(attribute__text=attribute) if attribute else answers


def _divisive(judgements: Any) -> list[Row]:
    """Return the items with both answers, sorted by share of differing pairs, then by number of answers."""
    counts = list(
        judgements.values_list("annotation__task__image", "attribute")
        .annotate(shown=Count("pk"), marked=Count("pk", filter=Q(present=True)))
        .filter(marked__gt=0, marked__lt=F("shown"))
        .order_by()
    )
    # Names are loaded only for items that may be among the first; there may be 100,000 others.
    counts.sort(key=_most_differing)
    if len(counts) > MOST_ITEMS:
        limit = _most_differing(counts[MOST_ITEMS - 1])
        counts = [row for row in counts if _most_differing(row) <= limit]
    images = Image.objects.filter(pk__in={row[0] for row in counts})
    places = {pk: fields for pk, *fields in images.values_list("pk", "public_id", "group__name")}
    texts = dict(Attribute.objects.filter(pk__in={row[1] for row in counts}).values_list("pk", "text"))
    items = [
        {
            "image": str(places[image][0]),
            "identity_group": places[image][1],
            "attribute": texts[attribute],
            "shown": shown,
            "marked": marked,
        }
        for image, attribute, shown, marked in counts
    ]
    items.sort(
        key=lambda row: (
            *_most_differing((None, None, row["shown"], row["marked"])),
            row["attribute"],
            row["identity_group"] or "",
            row["image"],
        )
    )
    return items[:MOST_ITEMS]


def _most_differing(row: tuple[Any, ...]) -> tuple[float, int]:
    """Return a sort key: the share of pairs of answers that differ, then the number of answers."""
    *_, shown, marked = row
    return -2 * marked * (shown - marked) / (shown * (shown - 1)), -shown


def _with_answers(page: ResultsPage, items: list[Row]) -> list[Row]:
    images = Image.objects.filter(study=page.study, public_id__in=[row["image"] for row in items])
    answers = answers_of(page, list(images), [row["attribute"] for row in items])
    urls = {str(image.public_id): image_url(image, viewer=page.viewer, size=SMALL) for image in images}
    return [
        {
            **row,
            "answers": answers.get((row["image"], row["attribute"]), []),
            "url": urls.get(row["image"], ""),
            "name": page.names.get(row["identity_group"], row["identity_group"]),
        }
        for row in items
    ]


def _group_shares(page: ResultsPage, field: str, group: str) -> list[Row]:
    """Return shares by a field of the profile.

    Empty if the report leaves out annotators or campaigns: comparison with all of them could identify people.
    """
    if page.report.parameters["without_annotators"] or page.report.parameters["campaigns"]:
        return []
    return shares_by_group(page.rows("annotator_groups"), field, group)
