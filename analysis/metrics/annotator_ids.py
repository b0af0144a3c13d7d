"""Whether an annotator id stands for a person."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.judgements import Judgements
from analysis.metrics.results import Result, counts, numbers, words

UNUSABLE = "annotator_ids_unusable"


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
    real = ~data.cell_is_none[data.unit_cell[data.row_unit]]
    unit, annotator = data.row_unit[real].astype(np.int64), data.row_annotator[real].astype(np.int64)
    people = max(len(data.annotator_names), 1)
    campaigns = int(data.row_campaign.max(initial=0)) + 1
    answer = (unit * people + annotator) * campaigns + data.row_campaign[real]
    times = np.unique(answer, return_counts=True)[1]
    repeated = int((times > 1).sum())
    image = np.unique(data.unit_image[unit].astype(np.int64) * people + annotator)
    images_each = np.bincount(image % people, minlength=people)
    annotators = int((images_each > 0).sum())
    images = len(np.unique(image // people))
    single = int((images_each == 1).sum())
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
        table=table, used=int(real.sum()), method="single images and repeats", usable=usable, reason=reason
    )
