"""Whether each annotator id belongs to one person."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.judgements import Judgements
from analysis.metrics.data.results import Result, counts, numbers, words

UNUSABLE = "annotator_ids_unusable"
MOST_ON_A_SINGLE_IMAGE = 0.5  # share of ids
MOST_REPEATED = 0.05  # share of judgements
LOOKED_BACK = 16  # rows; for units with more answers, sorting is faster than comparing
LOOKED_AT_ONCE = 50_000  # rows; most annotators soon have a second image


@dataclass(frozen=True, eq=False, kw_only=True)
class AnnotatorIds(Result):
    """`sentence`: the sign that ids do not identify people, with its share; None if they are usable."""

    usable: bool = True
    reason: str | None = None
    sentence: str | None = None

    def __bool__(self) -> bool:
        return self.usable


def annotator_ids_usable(judgements: Any) -> AnnotatorIds:
    """Decide whether ids identify people.

    They do not if most ids occur with a single image only (ids of screens), or if more than 5 % of the judgements are
    about a unit that the same id had already judged in the campaign (repeats for self-consistency are not among the
    judgements; without a column `campaign`, everything is one campaign). Up to that share, ids remain usable, repeated
    judgements are counted (`repeated_judgements`, `repeated_share`), and an import keeps the latest of them. If there
    is only one image, only the second sign counts. Source: the released ViSAGe annotations, in which an id is a screen.
    """
    data = Judgements.of(judgements)
    unit, annotator, campaign = data.row_unit, data.row_annotator, data.row_campaign
    real = ~data.cell_is_none[data.unit_cell]
    if not real.all():
        rows = real[unit]
        unit, annotator, campaign = unit[rows], annotator[rows], campaign[rows]
    # Rows are sorted, so repeated answers are adjacent.
    repeats = (unit[1:] == unit[:-1]) & (annotator[1:] == annotator[:-1])
    if campaign.strides[0]:
        repeats &= campaign[1:] == campaign[:-1]
    annotators, single = _images_each(len(data.annotator_names), data.unit_image, unit, annotator)
    signs = IdSigns(
        annotators=annotators,
        on_one_image=single,
        images=int((np.bincount(data.unit_image[real], minlength=1) > 0).sum()),
        judgements=len(unit),
        repeated=int(repeats.sum()),
    )
    reason = None if signs.usable else UNUSABLE
    table = pd.DataFrame(
        {
            "annotators": counts([annotators]),
            "images": counts([signs.images]),
            "on_a_single_image": numbers([single / annotators if annotators else np.nan]),
            "repeated_units": counts([repeats[:1].sum() + (repeats[1:] & ~repeats[:-1]).sum()]),
            "repeated_judgements": counts([signs.repeated]),
            "repeated_share": numbers([signs.repeated / len(unit) if len(unit) else np.nan]),
            "usable": pd.array([signs.usable], dtype="boolean"),
            "reason": words([reason]),
            "sentence": words([signs.sentence]),
        }
    )
    return AnnotatorIds(
        table=table,
        used=len(unit),
        method="single images and repeats",
        usable=signs.usable,
        reason=reason,
        sentence=signs.sentence,
    )


@dataclass(frozen=True, kw_only=True)
class IdSigns:
    """The signs whether ids identify people. `repeated`: judgements of a unit that the same id had judged before."""

    annotators: int
    on_one_image: int
    images: int
    judgements: int
    repeated: int

    @classmethod
    def of(cls, annotator: Array, unit: Array, image: Array) -> "IdSigns":
        """Compute the signs from the codes of single answers."""
        on_images = np.bincount(np.unique(np.stack([annotator, image]), axis=1)[0])
        return cls(
            annotators=int((on_images > 0).sum()),
            on_one_image=int((on_images == 1).sum()),
            images=len(np.unique(image)),
            judgements=len(annotator),
            repeated=len(annotator) - np.unique(np.stack([annotator, unit]), axis=1).shape[1],
        )

    @property
    def usable(self) -> bool:
        return self.sentence is None

    @property
    def sentence(self) -> str | None:
        """Which of the signs applies, with its share."""
        if self.images > 1 and self.on_one_image > MOST_ON_A_SINGLE_IMAGE * self.annotators:
            share = _percent(self.on_one_image / self.annotators)
            return f"{share} of the annotator ids occur with one image only, so an id does not stand for one person."
        if self.repeated > MOST_REPEATED * self.judgements:
            return (
                f"{_percent(self.repeated / self.judgements)} of the judgements repeat an earlier judgement "
                f"by the same annotator id (more than {_percent(MOST_REPEATED)}), "
                "so an id does not stand for one person."
            )
        return None


def _percent(share: float) -> str:
    # 99.98 % must not be shown as 100 %, nor a share just above the limit as the limit.
    return f"{share * 100:.2f}".rstrip("0").rstrip(".") + " %"


def ids_stand_for_people(judgements: Judgements) -> bool:
    """The result of `annotator_ids_usable`, without sorting judgements that are not sorted yet."""
    rows = judgements.rows
    if rows.is_ordered or judgements.cell_is_none.any():
        return annotator_ids_usable(judgements).usable
    repeated = _repeated(judgements)
    if repeated > MOST_REPEATED * len(rows):
        return False
    annotators, single = _images_each(len(judgements.annotator_names), None, rows.image, rows.annotator)
    return IdSigns(
        annotators=annotators,
        on_one_image=single,
        images=len(judgements.image_group),
        judgements=len(rows),
        repeated=repeated,
    ).usable


def _repeated(judgements: Judgements) -> int:
    """The number of judgements of a unit that the same id had already judged in the campaign."""
    rows, most = judgements.rows, int(judgements.unit_shown.max(initial=0))
    unit_by_unit = np.count_nonzero(rows.slot[1:] != rows.slot[:-1]) + 1 == len(judgements.unit_cell)
    if not unit_by_unit or most > LOOKED_BACK:
        answers = rows.packed()
        answers.sort()
        return int(np.count_nonzero(answers[1:] == answers[:-1]))
    repeats = np.zeros(len(rows), dtype=bool)
    for back in range(1, most):
        later = np.flatnonzero(rows.annotator[back:] == rows.annotator[:-back])
        later = later[rows.slot[later + back] == rows.slot[later]]
        later = later[rows.campaign[later + back] == rows.campaign[later]]
        repeats[later + back] = True
    return int(np.count_nonzero(repeats))


def _images_each(people: int, image_of: Array | None, place: Array, annotator: Array) -> tuple[int, int]:
    """The number of annotators, and the number of them who judged only one image.

    `place` is the image of each judgement, or its unit if `image_of` gives the image of each unit.
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
