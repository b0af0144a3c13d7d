"""Whether an annotator id stands for a person."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.judgements import Judgements
from analysis.metrics.results import Result, counts, numbers, words

UNUSABLE = "annotator_ids_unusable"
LOOKED_BACK = 16  # rows; more answers of a unit than this are faster ordered than compared
PART = 16
LOOKED_AT_ONCE = 50_000  # rows; most annotators are soon seen on a second image


@dataclass(frozen=True, eq=False, kw_only=True)
class AnnotatorIds(Result):
    usable: bool = True
    reason: str | None = None

    def __bool__(self) -> bool:
        return self.usable


def annotator_ids_usable(judgements: Any) -> AnnotatorIds:
    """Tell whether ids identify people.

    They do not when most ids sit on a single image (ids of screens), or when an id judged one unit more than
    once in one campaign (repeats for self-consistency are not among the judgements; without a column
    `campaign` all is one campaign). With a single image nobody could sit on more than one, so only the second
    sign counts there. Source: the released ViSAGe annotations, where an id is a screen.
    """
    data = Judgements.of(judgements)
    unit, annotator, campaign = data.row_unit, data.row_annotator, data.row_campaign
    real = ~data.cell_is_none[data.unit_cell]
    if not real.all():
        kept = real[unit]
        unit, annotator, campaign = unit[kept], annotator[kept], campaign[kept]
    # Answers given twice lie side by side: rows are sorted.
    same = (unit[1:] == unit[:-1]) & (annotator[1:] == annotator[:-1])
    if campaign.strides[0]:
        same &= campaign[1:] == campaign[:-1]
    repeated = int(same[:1].sum() + (same[1:] & ~same[:-1]).sum())
    annotators, single = _images_each(len(data.annotator_names), data.unit_image, unit, annotator)
    images = int((np.bincount(data.unit_image[real], minlength=1) > 0).sum())
    usable = repeated == 0 and _on_several(images, annotators, single)
    reason = None if usable else UNUSABLE
    table = pd.DataFrame(
        {
            "annotators": counts([annotators]),
            "images": counts([images]),
            "on_a_single_image": numbers([single / annotators if annotators else np.nan]),
            "repeated_units": counts([repeated]),
            "usable": pd.array([usable], dtype="boolean"),
            "reason": words([reason]),
        }
    )
    return AnnotatorIds(
        table=table, used=len(unit), method="single images and repeats", usable=usable, reason=reason
    )


def ids_stand_for_people(judgements: Judgements) -> bool:
    """What `annotator_ids_usable` finds, without putting judgements in order where nobody needed that yet."""
    rows = judgements.rows
    if rows.is_ordered or judgements.cell_is_none.any():
        return annotator_ids_usable(judgements).usable
    if _answered_twice(judgements):
        return False
    counted = _images_each(len(judgements.annotator_names), None, rows.image, rows.annotator)
    return _on_several(len(judgements.image_group), *counted)


def _answered_twice(judgements: Judgements) -> bool:
    """Whether an id judged a unit more than once in one campaign."""
    rows, most = judgements.rows, int(judgements.unit_shown.max(initial=0))
    unit_by_unit = np.count_nonzero(rows.slot[1:] != rows.slot[:-1]) + 1 == len(judgements.unit_cell)
    if not unit_by_unit or most > LOOKED_BACK:
        answers = rows.packed()
        # Where ids answer twice they do so all over: a part is enough to see it.
        return _twice(answers[rows.slot < rows.slots // PART]) or _twice(answers)
    for back in range(1, most):
        same = np.flatnonzero(rows.annotator[back:] == rows.annotator[:-back])
        same = same[rows.slot[same + back] == rows.slot[same]]
        if (rows.campaign[same + back] == rows.campaign[same]).any():
            return True
    return False


def _twice(answers: np.ndarray) -> bool:
    answers.sort()
    return bool((answers[1:] == answers[:-1]).any())


def _on_several(images: int, annotators: int, single: int) -> bool:
    return images <= 1 or single * 2 <= annotators


def _images_each(
    people: int, image_of: np.ndarray | None, place: np.ndarray, annotator: np.ndarray
) -> tuple[int, int]:
    """How many annotators there are, and how many of them judged one image only.

    `place` is the image of each judgement, or its unit if `image_of` gives the image of that.
    """
    one_image = np.full(people, -1, dtype=np.int32)
    several = np.zeros(people, dtype=bool)
    for begin in range(0, len(place), LOOKED_AT_ONCE):
        who = annotator[begin : begin + LOOKED_AT_ONCE]
        image = place[begin : begin + LOOKED_AT_ONCE]
        image = image if image_of is None else image_of[image]
        new = one_image[who] < 0
        one_image[who[new]] = image[new]
        several[who[one_image[who] != image]] = True
        if several.all():
            break
    annotators = int((one_image >= 0).sum())
    return annotators, annotators - int(several.sum())
