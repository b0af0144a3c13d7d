"""Whether annotators who placed points on an image placed them near each other."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array, pairs_within, ratio
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.validation import (
    finite,
    first_value,
    require_columns,
    require_filled,
    require_share,
)
from analysis.metrics.resampling.unit_means import METHOD, UnitCells

NO_UNIT_POINTED_TWICE = "no_unit_pointed_twice"
MEASURES = ("points_any_near", "points_share_near")
WITHIN = 0.05  # of the diagonal: 36 of 724 pixels for an image of 512 × 512
OUTSIDE = "outside_image"
NAMES = ("image", "annotator")
PLACE = ("x", "y", "width", "height")


def point_agreement(points: Any, *, within: float = WITHIN) -> Result:
    """Agreement of points: whether annotators pointed at the same place. (Agreement on presence covers whether they
    placed any points.)

    A *unit* is an image (and attribute). For each pair of annotators who both placed points in a unit, two points are
    near each other if their distance is at most `within`, a share of the image's diagonal:

        √((Δx·width)² + (Δy·height)²) ≤ within · √(width² + height²)

    points_any_near: 1 if a point of one annotator is near a point of the other, else 0. points_share_near: the share of
    both annotators' points that are near a point of the other annotator; equal to points_any_near if both placed a
    single point. A unit's value is the mean over its pairs; the estimate is the mean over units with equal weight.

    Neither measure is corrected for chance: points in the middle of images are near each other whatever they mark.
    Compare with the share of the image's area that a circle of radius `within` covers.

    `points`: one row per point with the columns image, annotator, x, y (shares of the image's width and
    height), width, height (of the image, in pixels)[, attribute, model]. Points outside the image are left out
    (`dropped`), units with points of only one annotator are left out. Null: `no_unit_pointed_twice`. Raises
    ValueError for a missing column, an empty cell, a width or height that is not above 0 and `within` outside
    0 … 1.

    Interval: two-way jackknife of annotators and images (`jackknife_intervals`); null: `too_few_annotators`
    (fewer than three), `too_sparse`, `zero_width`. Ids must identify people.

    Source: the definition is ours; points on faults of images as in Liang et al. 2024, *Rich human feedback for
    text-to-image generation*.

    >>> rows = [("i", "p", 0.50), ("i", "q", 0.52), ("i", "r", 0.90)]
    >>> table = pd.DataFrame(rows, columns=["image", "annotator", "x"]).assign(y=0.5, width=512, height=512)
    >>> round(point_agreement(table).rows()[0]["value"], 4)  # of three pairs, p and q are near
    0.3333
    """
    within = require_share(within, "within")
    data = _Points.of(points)
    pairs = _Pairs.of(data, within)
    tables = [_table(data, pairs, code, str(name)) for code, name in enumerate(data.model_names)]
    lone = int((np.bincount(data.drawing_unit, minlength=len(data.unit_image)) == 1).sum())
    return Result(
        table=pd.concat(tables, ignore_index=True),
        used=len(data.place),
        dropped={OUTSIDE: data.outside, "pointed_by_one": lone},
        method=METHOD.format(clusters="images"),
        notes={"within": within},
    )


@dataclass(frozen=True, eq=False)
class _Points:
    """Points sorted by drawing: the points of one annotator in one unit. Drawings are sorted by unit.

    `place` (points × 2) is measured in diagonals of the image.
    """

    place: Array
    drawing: Array
    drawing_unit: Array
    drawing_annotator: Array
    unit_image: Array
    unit_model: Array
    model_names: Array
    outside: int

    @classmethod
    def of(cls, points: Any) -> "_Points":
        table = require_columns(points, "points", (*NAMES, *PLACE))
        require_filled(table, "points", (*NAMES, *PLACE))
        x, y, width, height = (finite(table[column], "points") for column in PLACE)
        for column, pixels in (("width", width), ("height", height)):
            if (pixels <= 0).any():
                value = first_value(table[column], pixels <= 0)
                raise ValueError(f"points: column {column!r} must be above 0, got {value!r}")
        inside = (x >= 0) & (x <= 1) & (y >= 0) & (y <= 1)
        place = np.column_stack([x * width, y * height]) / np.hypot(width, height)[:, None]
        columns = [
            table[name].astype(str) if name in table else pd.Series("", index=table.index)
            for name in ("model", "image", "attribute", "annotator")
        ]
        (model, model_names), (image, _), (attribute, _), (annotator, _) = (
            pd.factorize(column, sort=True) for column in columns
        )
        order = np.lexsort((annotator, attribute, image, model))
        order = order[inside[order]]
        key = np.stack([model, image, attribute, annotator])[:, order]
        first_of_unit = _changes(key[:3])
        first_of_drawing = _changes(key)
        unit = np.cumsum(first_of_unit) - 1
        return cls(
            place=place[order],
            drawing=np.cumsum(first_of_drawing) - 1,
            drawing_unit=unit[first_of_drawing],
            drawing_annotator=key[3][first_of_drawing],
            unit_image=key[1][first_of_unit],
            unit_model=key[0][first_of_unit],
            model_names=np.asarray(model_names if len(model_names) else [""], dtype=object),
            outside=int((~inside).sum()),
        )


def _changes(columns: Array) -> Array:
    """Whether each row of sorted columns (columns × rows) differs from the row before."""
    changes = np.ones(columns.shape[1], dtype=bool)
    changes[1:] = (columns[:, 1:] != columns[:, :-1]).any(axis=0)
    return changes


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of drawings of a unit, and the value of each measure for each pair."""

    unit: Array
    annotators: tuple[Array, Array]
    values: dict[str, Array]

    @classmethod
    def of(cls, data: _Points, within: float) -> "_Pairs":
        drawings = len(data.drawing_unit)
        one, other = pairs_within(data.drawing_unit)
        i, j = pairs_within(data.drawing_unit[data.drawing])
        near = data.drawing[i] != data.drawing[j]
        near[near] = np.hypot(*(data.place[i[near]] - data.place[j[near]]).T) <= within
        i, j = i[near], j[near]
        keys = one * drawings + other  # ascending
        pair = np.searchsorted(keys, data.drawing[i] * drawings + data.drawing[j])
        matched = np.zeros(len(keys))
        for point in (i, j):
            distinct = np.unique(np.stack([pair, point]), axis=1)[0]
            matched += np.bincount(distinct, minlength=len(keys))
        size = np.bincount(data.drawing, minlength=drawings)
        return cls(
            unit=data.drawing_unit[one],
            annotators=(data.drawing_annotator[one], data.drawing_annotator[other]),
            values=dict(zip(MEASURES, (matched > 0, ratio(matched, size[one] + size[other])), strict=True)),
        )


def _table(data: _Points, pairs: _Pairs, model: int, name: str) -> pd.DataFrame:
    rows = data.unit_model[pairs.unit] == model
    units, unit = np.unique(pairs.unit[rows], return_inverse=True)
    sides = [side[rows] for side in pairs.annotators]
    people = max((int(side.max(initial=0)) for side in sides), default=0) + 1
    keys, cell = np.unique(np.concatenate([unit * people + side for side in sides]), return_inverse=True)
    cells = UnitCells(cluster=data.unit_image[units], unit=keys // people, annotator=keys % people)
    number = np.bincount(unit, minlength=len(units))
    remaining = number[cells.unit] - np.bincount(cell, minlength=len(keys))
    means, intervals = [], []
    for measure in MEASURES:
        value = pairs.values[measure][rows].astype(float)
        total = np.bincount(unit, weights=value, minlength=len(units))
        without = total[cells.unit] - np.bincount(cell, weights=np.tile(value, 2), minlength=len(keys))
        means.append(ratio((total / number).sum(), len(units)))
        intervals.append(cells.intervals(total / number, ratio(without, remaining), bounds=(0.0, 1.0)))
    repeated = len(MEASURES)
    undefined = "" if len(units) else NO_UNIT_POINTED_TWICE
    return pd.DataFrame(
        {
            "model": labels([name] * repeated),
            "measure": labels(MEASURES),
            "value": numbers(means),
            "ci_low": numbers([interval.low[0] for interval in intervals]),
            "ci_high": numbers([interval.high[0] for interval in intervals]),
            "units": counts([len(units)] * repeated),
            "pairs": counts([rows.sum()] * repeated),
            "annotators": counts([len(np.unique(cells.annotator))] * repeated),
            "reason": words([undefined or interval.reason[0] for interval in intervals]),
        }
    )
