"""Annotations of a campaign that count, with their answers, one page at a time in the order of the release."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from django.db.models import F, QuerySet, Window
from django.db.models.functions import Mod, RowNumber
from numpy.typing import NDArray

from analysis.releases.rekey import shuffling
from analysis.releases.tables.arrays import BOOLEAN, DAY, INTEGER, NUMBER, SECONDS, Columns, read_columns
from annotation.answers.inclusion import counted
from annotation.kinds.registry import kind_of
from annotation.models import Annotation, Box, Campaign, Judgement

PAGE = 8_192  # annotations
# Where the keys of a page span more than so many times its rows, others' judgements are left to the database:
# a join is dear where there are none.
_SPARSE = 4

_ANNOTATION = {
    "pk": INTEGER,
    "task__image": INTEGER,
    "annotator": INTEGER,
    "instrument": INTEGER,
    "instrument__version": INTEGER,
    "none_of_the_above": BOOLEAN,
    "active_seconds": SECONDS,
    "submitted_at": DAY,
}
_BOX = {
    "pk": INTEGER,
    "judgement": INTEGER,
    "x": NUMBER,
    "y": NUMBER,
    "width": NUMBER,
    "height": NUMBER,
    "clipped": BOOLEAN,
}


@dataclass(frozen=True, eq=False)
class Page:
    """Some annotations, their judgements and boxes. `owner` is the index of the annotation or judgement of a row."""

    campaign: Campaign
    annotations: Columns
    judgements: Columns  # pk, owner (an annotation), attribute, value
    boxes: Columns  # pk, owner (a judgement), x, y, width, height, clipped
    justifications: list[str] | None
    languages: list[str | None] | None = None  # if there are several


def pages(
    campaign: Campaign,
    *,
    using: str,
    key: bytes,
    attribute_rank: NDArray[np.int64],
    justifications: bool,
    left_out: Collection[int] = (),
    readers: Collection[int] | None = None,
) -> Iterator[Page]:
    """Yield the campaign's counted annotations. Each page is shuffled: the order of rows tells no order in time.

    Annotations of annotators in `left_out` are not included. `readers`: the annotators whose languages are shown, if
    any.
    """
    for within, annotations in annotation_pages(
        campaign, _ANNOTATION, using=using, key=key, left_out=left_out
    ):
        judgements = _judgements(campaign, using, within, annotations["pk"], attribute_rank)
        boxes = _boxes(campaign, using, judgements["pk"])
        counting = counted_in(campaign, using=using, left_out=left_out)
        texts = _justifications(counting, annotations["pk"]) if justifications else None
        languages = None if readers is None else languages_of(counting, annotations, readers)
        yield Page(campaign, annotations, judgements, boxes, texts, languages)


def counted_in(campaign: Campaign, *, using: str, left_out: Collection[int]) -> QuerySet[Annotation]:
    """Return the counted annotations of a campaign, without those of people whom the release leaves out."""
    counting = counted(campaign).using(using)
    return counting.exclude(annotator__in=left_out) if left_out else counting


def annotation_pages(
    campaign: Campaign, columns: Mapping[str, str], *, using: str, key: bytes, left_out: Collection[int]
) -> Iterator[tuple[dict[str, int], Columns]]:
    """Yield the bounds of the keys of each page, and these columns of its annotations, shuffled."""
    counting = counted_in(campaign, using=using, left_out=left_out)
    low = 0
    for high in (*_bounds(campaign, using), None):
        within = {"gt": low} | ({} if high is None else {"lte": high})
        unordered = read_columns(
            counting.filter(**{f"pk__{name}": bound for name, bound in within.items()}), columns
        )
        if len(unordered["pk"]):
            order = shuffling(unordered["pk"], key=key)
            yield within, {name: values[order] for name, values in unordered.items()}
        low = high or low


def _bounds(campaign: Campaign, using: str) -> list[int]:
    """Keys of the last annotation of each full page, counted or not: the ends of pages have no effect on the
    release."""
    annotations = Annotation.objects.using(using).filter(campaign=campaign)
    numbered = annotations.annotate(number=Window(RowNumber(), order_by=F("pk").asc()))
    page_ends = numbered.annotate(rest=Mod("number", PAGE)).filter(rest=0)
    return sorted(page_ends.order_by().values_list("pk", flat=True))


def _judgements(
    campaign: Campaign,
    using: str,
    within: dict[str, int],
    owners: NDArray[np.int64],
    attribute_rank: NDArray[np.int64],
) -> Columns:
    value = "present" if kind_of(campaign).marks_attributes else "rating"
    queryset = Judgement.objects.using(using).filter(
        **{f"annotation__{name}": bound for name, bound in within.items()}, **{f"{value}__isnull": False}
    )
    if within.get("lte", 2**62) - within["gt"] > _SPARSE * len(owners):
        queryset = queryset.filter(annotation__campaign=campaign)
    kind = BOOLEAN if value == "present" else INTEGER
    judgements = read_columns(
        queryset, {"pk": INTEGER, "annotation": INTEGER, "attribute": INTEGER, value: kind}
    )
    judgements["value"] = judgements.pop(value)
    # Annotations that do not count lie between those that do.
    judgements["owner"], owned = owners_of(judgements.pop("annotation"), owners)
    judgements = {name: values[owned] for name, values in judgements.items()}
    order = np.lexsort((attribute_rank[judgements["attribute"]], judgements["owner"]))
    return {name: values[order] for name, values in judgements.items()}


def _boxes(campaign: Campaign, using: str, owners: NDArray[np.int64]) -> Columns:
    if not kind_of(campaign).marks_attributes or not len(owners):
        return read_columns(Box.objects.using(using).none(), _BOX) | {"owner": np.empty(0, dtype=np.int64)}
    queryset = Box.objects.using(using).filter(
        judgement__gte=int(owners.min()), judgement__lte=int(owners.max())
    )
    boxes = read_columns(queryset, _BOX)
    boxes["owner"], owned = owners_of(boxes.pop("judgement"), owners)
    boxes = {name: values[owned] for name, values in boxes.items()}
    order = np.lexsort((boxes["pk"], boxes["owner"]))
    return {name: values[order] for name, values in boxes.items()}


def owners_of(
    keys: NDArray[np.int64], owners: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the index of each row's owner, and the rows with an owner."""
    order = np.argsort(owners)
    at = np.minimum(np.searchsorted(owners, keys, sorter=order), len(owners) - 1)
    place = order[at] if len(owners) else at
    return place, owners[place] == keys if len(owners) else np.zeros(len(keys), dtype=bool)


def languages_of(
    counting: QuerySet[Annotation], annotations: Columns, readers: Collection[int]
) -> list[str | None]:
    """Return in which language each of these annotations was read; None for annotators who are not `readers`."""
    keys = annotations["pk"]
    known = counting.filter(language__isnull=False, pk__gte=int(keys.min()), pk__lte=int(keys.max()))
    languages = dict(known.values_list("pk", "language").iterator())
    rows = zip(keys.tolist(), annotations["annotator"].tolist(), strict=True)
    return [languages.get(key) if annotator in readers else None for key, annotator in rows]


def _justifications(counting: QuerySet[Annotation], keys: NDArray[np.int64]) -> list[str]:
    written = counting.exclude(justification="").filter(pk__gte=int(keys.min()), pk__lte=int(keys.max()))
    texts = dict(written.values_list("pk", "justification").iterator())
    return [texts.get(key, "") for key in keys.tolist()]
