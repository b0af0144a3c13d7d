"""Whether an annotator id stands for a person."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.judgements import Judgements
from analysis.metrics.results import Result, counts, numbers, words

UNUSABLE = "annotator_ids_unusable"
LOOKED_AT_ONCE = 500_000  # rows; most annotators are soon seen on a second image


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
    annotators, single = _images_each(data, unit, annotator)
    images = int((np.bincount(data.unit_image[real], minlength=1) > 0).sum())
    usable = repeated == 0 and (images <= 1 or single * 2 <= annotators)
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


def _images_each(data: Judgements, unit: np.ndarray, annotator: np.ndarray) -> tuple[int, int]:
    """How many annotators there are, and how many of them judged one image only."""
    one_image = np.full(len(data.annotator_names), -1, dtype=np.int32)
    several = np.zeros(len(one_image), dtype=bool)
    for begin in range(0, len(unit), LOOKED_AT_ONCE):
        who = annotator[begin : begin + LOOKED_AT_ONCE]
        image = data.unit_image[unit[begin : begin + LOOKED_AT_ONCE]]
        new = one_image[who] < 0
        one_image[who[new]] = image[new]
        several[who[one_image[who] != image]] = True
        if several.all():
            break
    annotators = int((one_image >= 0).sum())
    return annotators, annotators - int(several.sum())
