"""Boxes drawn on images: corrected corners, and the distance between two annotators' drawings."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.validation import finite, require_columns, require_filled

CORNERS = ("x0", "y0", "x1", "y1")


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes sorted by drawing; a *drawing* is all boxes of one judgement, a *unit* is (model, image,
    attribute).

    `corners` (boxes × 4) are within the image, x0 ≤ x1, y0 ≤ y1. Drawings are sorted by unit.
    """

    corners: Array
    starts: Array
    """the index of the first box of each drawing, with the end appended"""
    drawing_judgement: Array
    drawing_annotator: Array
    drawing_unit: Array
    unit_model: Array
    unit_image: Array
    unit_attribute: Array
    model_names: Array
    image_names: Array
    attribute_names: Array
    clipped_share: float | None
    without_area: int

    @property
    def number(self) -> Array:
        """Boxes per drawing."""
        return np.diff(self.starts)


def boxes_of(boxes: Any) -> Boxes:
    """Validate and code a table of boxes (image, attribute, annotator, judgement, x0, y0, x1, y1[, model]).

    Corners are shares of the image's width and height in any order: sorted here, then clipped to the image. A
    box without area (wholly outside, or a line) is left out and counted.
    """
    names = ("image", "attribute", "annotator", "judgement")
    boxes = require_columns(boxes, "boxes", (*names, *CORNERS))
    require_filled(boxes, "boxes", (*names, *CORNERS))
    raw = np.column_stack([finite(boxes[corner], "boxes") for corner in CORNERS]).reshape(-1, 4)
    low, high = np.minimum(raw[:, :2], raw[:, 2:]), np.maximum(raw[:, :2], raw[:, 2:])
    corners = np.clip(np.column_stack([low, high]), 0, 1)
    clipped = ((low < 0) | (high > 1)).any(axis=1)
    area = (corners[:, 2] > corners[:, 0]) & (corners[:, 3] > corners[:, 1])

    model, model_names = _codes(boxes["model"]) if "model" in boxes else (np.zeros(len(raw), int), _unnamed())
    image, image_names = _codes(boxes["image"])
    attribute, attribute_names = _codes(boxes["attribute"])
    annotator, _ = _codes(boxes["annotator"])
    judgement, judgement_names = _codes(boxes["judgement"])
    key = (model * max(len(image_names), 1) + image) * max(len(attribute_names), 1) + attribute
    _require_one_unit(judgement, key, annotator, judgement_names)

    order = np.lexsort((judgement, key))
    order = order[area[order]]
    key, judgement, annotator = key[order], judgement[order], annotator[order]
    starts = np.flatnonzero(np.diff(judgement, prepend=-1))
    units, drawing_unit = np.unique(key[starts], return_inverse=True)
    return Boxes(
        corners=corners[order],
        starts=np.append(starts, len(order)),
        drawing_judgement=judgement_names[judgement[starts]],
        drawing_annotator=annotator[starts],
        drawing_unit=drawing_unit,
        unit_model=units // max(len(attribute_names), 1) // max(len(image_names), 1),
        unit_image=units // max(len(attribute_names), 1) % max(len(image_names), 1),
        unit_attribute=units % max(len(attribute_names), 1),
        model_names=model_names,
        image_names=image_names,
        attribute_names=attribute_names,
        clipped_share=float(clipped.mean()) if len(clipped) else None,
        without_area=int((~area).sum()),
    )


def distances(boxes: Boxes, i: Array, j: Array) -> Array:
    """Distance of each pair of drawings, 0 to 1.

    Boxes are matched one to one for the largest total IoU (Hungarian). The distance is Σ(1 − IoU) of the matched boxes
    plus 1 for each unmatched box, divided by max(n₁, n₂).
    """
    number = boxes.number
    fewer, more = np.minimum(number[i], number[j]), np.maximum(number[i], number[j])
    overlap = np.zeros(len(i))
    single = fewer == 1
    # One box against several: take the best, with (pair, box) rows to avoid a loop.
    lone = np.where(number[i] == 1, i, j)[single]
    opposite = np.where(number[i] == 1, j, i)[single]
    repeats = number[opposite]
    pair = np.repeat(np.arange(len(lone)), repeats)
    box = (
        np.arange(len(pair)) - np.repeat(np.cumsum(repeats) - repeats, repeats) + boxes.starts[opposite][pair]
    )
    values = iou(boxes.corners[boxes.starts[lone][pair]], boxes.corners[box])
    best = np.zeros(len(lone))
    np.maximum.at(best, pair, values)
    overlap[single] = best
    for index in np.flatnonzero(~single):
        _, _, matched = match(boxes, int(i[index]), int(j[index]))
        overlap[index] = matched.sum()
    return np.asarray(1 - overlap / more)


def match(boxes: Boxes, i: int, j: int) -> tuple[Array, Array, Array]:
    """Positions of the matched boxes of two drawings (rows of `corners`) and their IoU."""
    from scipy.optimize import linear_sum_assignment  # 0.1 s to import, and rarely needed

    rows = np.arange(boxes.starts[i], boxes.starts[i + 1])
    columns = np.arange(boxes.starts[j], boxes.starts[j + 1])
    overlap = iou(boxes.corners[rows][:, None], boxes.corners[columns][None, :])
    chosen, with_ = linear_sum_assignment(overlap, maximize=True)
    return rows[chosen], columns[with_], overlap[chosen, with_]


def iou(a: Array, b: Array) -> Array:
    """Intersection over union of boxes (… × 4), broadcast."""
    sides = np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])
    shared = np.clip(sides, 0, None).prod(axis=-1)
    areas = (a[..., 2:] - a[..., :2]).prod(axis=-1) + (b[..., 2:] - b[..., :2]).prod(axis=-1)
    return np.asarray(shared / (areas - shared))


def _codes(column: pd.Series) -> tuple[Array, Array]:
    codes, names = pd.factorize(column, sort=True)
    return codes, np.asarray(names, dtype=object)


def _unnamed() -> Array:
    return np.array([""], dtype=object)


def _require_one_unit(judgement: Array, key: Array, annotator: Array, names: Array) -> None:
    """Refuse a judgement that is not one answer of one annotator about one attribute of one image."""
    belongs = pd.DataFrame({"judgement": judgement, "key": key, "annotator": annotator}).drop_duplicates()
    torn = belongs["judgement"].duplicated().to_numpy()
    if torn.any():
        name = names[belongs["judgement"].to_numpy()[int(np.argmax(torn))]]
        raise ValueError(
            f"boxes: judgement {name!r} has boxes of more than one image, attribute or annotator"
        )
