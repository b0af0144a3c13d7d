"""Annotations that count in a campaign of declared questions, with their answers, one page at a time."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from analysis.releases.tables.arrays import DAY, INTEGER, SECONDS, Columns
from analysis.releases.tables.label_pages import annotation_pages, counted_in, languages_of, owners_of
from annotation.kinds.registry import kind_of
from annotation.models import Box, Campaign, Judgement, Point

_ANNOTATION = {
    "pk": INTEGER,
    "task": INTEGER,
    "annotator": INTEGER,
    "instrument": INTEGER,
    "instrument__version": INTEGER,
    "active_seconds": SECONDS,
    "submitted_at": DAY,
}
_ANSWER = (
    *("pk", "annotation", "question", "stimulus__position"),
    *("present", "rating", "code", "rank", "text"),
)
# The fields of an answer besides its key and its owner, in this order.
ANSWERED = ("question", "position", "present", "rating", "code", "rank", "text")
_BOX = ("judgement", "x", "y", "width", "height", "clipped")
_POINT = ("judgement", "x", "y")
Row = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class AnswerPage:
    """Some annotations, their answers and the places drawn with these.

    `judgements`: key and owner (the index of the annotation) of each answer. `answers`: the fields ANSWERED of
    each, in the same order. `places`: index of the answer and x, y, width, height, clipped.
    """

    campaign: Campaign
    annotations: Columns
    judgements: Columns
    answers: list[Row]
    places: list[Row]
    languages: list[str | None] | None = None


def answer_pages(
    campaign: Campaign,
    *,
    using: str,
    key: bytes,
    texts: bool,
    left_out: Collection[int],
    readers: Collection[int] | None = None,
) -> Iterator[AnswerPage]:
    """Yield the campaign's counted annotations, shuffled page by page; answers that are texts only if `texts`."""
    for within, annotations in annotation_pages(
        campaign, _ANNOTATION, using=using, key=key, left_out=left_out
    ):
        judgements, answers = _answers(campaign, using, within, annotations["pk"], texts=texts)
        counting = counted_in(campaign, using=using, left_out=left_out)
        languages = None if readers is None else languages_of(counting, annotations, readers)
        places = _places(campaign, using, within, judgements["pk"])
        yield AnswerPage(campaign, annotations, judgements, answers, places, languages)


def _answers(
    campaign: Campaign, using: str, within: dict[str, int], owners: NDArray[np.int64], *, texts: bool
) -> tuple[Columns, list[Row]]:
    queryset = Judgement.objects.using(using).filter(annotation__campaign=campaign, **_in_page(within, ""))
    if not texts:
        queryset = queryset.filter(text__isnull=True)
    rows = _rows(queryset, _ANSWER)
    owner, owned = owners_of(_column(rows, 1), owners)
    number = {question.name: place for place, question in enumerate(kind_of(campaign).questions)}
    # In the order on the screen. A key only gives the order of answers within one submission.
    ordered = sorted(
        (index for index in range(len(rows)) if owned[index]),
        key=lambda at: (owner[at], number[rows[at][2]], _place(rows[at][3]), rows[at][0]),
    )
    order = np.array(ordered, dtype=np.int64)
    return {"pk": _column(rows, 0)[order], "owner": owner[order]}, [rows[at][2:] for at in ordered]


def _places(campaign: Campaign, using: str, within: dict[str, int], answers: NDArray[np.int64]) -> list[Row]:
    """Boxes and points by answer; those of one answer are in the order of drawing."""
    of_page = {"judgement__annotation__campaign": campaign, **_in_page(within, "judgement__")}
    boxes = _rows(Box.objects.using(using).filter(**of_page).order_by("pk"), _BOX)
    points = _rows(Point.objects.using(using).filter(**of_page).order_by("pk"), _POINT)
    drawn = boxes + [(*point, None, None, None) for point in points]
    place, owned = owners_of(_column(drawn, 0), answers)
    ordered = sorted((index for index in range(len(drawn)) if owned[index]), key=lambda at: int(place[at]))
    return [(int(place[at]), *drawn[at][1:]) for at in ordered]


def _in_page(within: dict[str, int], prefix: str) -> dict[str, int]:
    return {f"{prefix}annotation__{name}": bound for name, bound in within.items()}


def _rows(queryset: QuerySet[Any], columns: tuple[str, ...]) -> list[Row]:
    return list(queryset.values_list(*columns).iterator(chunk_size=10_000))


def _column(rows: list[Row], index: int) -> NDArray[np.int64]:
    return np.array([row[index] for row in rows], dtype=np.int64)


def _place(position: int | None) -> int:
    return -1 if position is None else position
