"""Judgements as integer codes and counts: factorised once, shared by every measure."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.validation import binary, require_columns, require_filled

NONE_OF_THE_ABOVE = "none of the above"
KEYS = ("image", "identity_group", "attribute", "annotator")


@dataclass(frozen=True, eq=False)
class Judgements:
    """A table of judgements, validated and coded.

    Rows are sorted by cell, then image. A *cell* is (model, identity group, attribute); a *unit* is (cell,
    image); an image is one file within one group. Cells are ordered by model, then group, then attribute, and
    images by group, so that both are contiguous within a group. `stratum` of an image is its group and the
    set of models it was judged for: images shared by two models or campaigns are resampled together, others
    apart. `row_campaign` tells answers to two campaigns about one unit from an answer given twice.
    """

    model_names: np.ndarray
    group_names: np.ndarray
    attribute_names: np.ndarray
    annotator_names: np.ndarray
    image_names: np.ndarray
    row_unit: np.ndarray
    row_annotator: np.ndarray
    row_campaign: np.ndarray
    row_present: np.ndarray
    unit_cell: np.ndarray
    unit_image: np.ndarray
    cell_model: np.ndarray
    cell_group: np.ndarray
    cell_attribute: np.ndarray
    cell_is_none: np.ndarray
    image_group: np.ndarray
    image_stratum: np.ndarray

    @classmethod
    def of(cls, judgements: Any, *, none_rows: pd.DataFrame | None = None) -> "Judgements":
        """Validate and code a DataFrame (image, identity_group, attribute, annotator, present[, model,
        campaign]).

        `none_rows` are the 'none of the above' answers of the screens; they become cells of their own, which
        only `tendency(none_of_the_above="as_random")` counts. A `Judgements` passes through untouched.
        """
        if isinstance(judgements, Judgements):
            if none_rows is not None:
                raise ValueError("none_rows: give them when the Judgements are made, not again")
            return judgements
        frames = [_checked(judgements, "judgements", KEYS)]
        if none_rows is not None:
            frames.append(_checked(none_rows, "none_rows", tuple(k for k in KEYS if k != "attribute")))
        is_none = np.repeat(np.arange(len(frames)) == 1, [len(frame) for frame in frames])
        present = np.concatenate(
            [binary(f["present"], name) for f, name in zip(frames, ("judgements", "none_rows"), strict=False)]
        )

        model, model_names = _codes([_column(f, "model") for f in frames])
        group, group_names = _codes([f["identity_group"] for f in frames])
        if not len(model_names):
            model_names = np.array([""], dtype=object)  # no judgements are those of one unnamed model
        annotator, annotator_names = _codes([f["annotator"] for f in frames])
        image, image_labels = _codes([f["image"] for f in frames])
        attribute, attribute_names = _codes([frames[0]["attribute"]])
        campaign, _ = _codes([_column(f, "campaign") for f in frames])
        # The none cell sorts after every attribute of its group.
        attribute = np.concatenate([attribute, np.full(len(is_none) - len(attribute), len(attribute_names))])

        image_key, image = np.unique(
            group.astype(np.int64) * max(len(image_labels), 1) + image, return_inverse=True
        )
        image_group = image_key // max(len(image_labels), 1)
        stratum = _strata(image, image_group, model, len(model_names))
        order = np.argsort(stratum, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        image, image_key, image_group, stratum = (
            rank[image],
            image_key[order],
            image_group[order],
            stratum[order],
        )

        width = len(attribute_names) + 1
        cell_key, cell = np.unique(
            (model.astype(np.int64) * max(len(group_names), 1) + group) * width + attribute,
            return_inverse=True,
        )
        row_key = cell.astype(np.int64) * max(len(image_key), 1) + image
        order = np.argsort(row_key, kind="stable")
        row_key = row_key[order]
        first = np.flatnonzero(np.diff(row_key, prepend=-1))
        unit_key = row_key[first]
        return cls(
            model_names=model_names,
            group_names=group_names,
            attribute_names=attribute_names,
            annotator_names=annotator_names,
            image_names=image_labels[image_key % max(len(image_labels), 1)],
            row_unit=np.repeat(
                np.arange(len(first), dtype=np.int32), np.diff(np.append(first, len(row_key)))
            ),
            row_annotator=annotator[order].astype(np.int32),
            row_campaign=campaign[order].astype(np.int32),
            row_present=present[order],
            unit_cell=(unit_key // max(len(image_key), 1)).astype(np.int32),
            unit_image=(unit_key % max(len(image_key), 1)).astype(np.int32),
            cell_model=(cell_key // width // max(len(group_names), 1)).astype(np.int32),
            cell_group=(cell_key // width % max(len(group_names), 1)).astype(np.int32),
            cell_attribute=(cell_key % width).astype(np.int32),
            cell_is_none=cell_key % width == len(attribute_names),
            image_group=image_group.astype(np.int32),
            image_stratum=stratum.astype(np.int32),
        )

    @cached_property
    def unit_shown(self) -> np.ndarray:
        return np.bincount(self.row_unit, minlength=len(self.unit_cell))

    @cached_property
    def unit_marked(self) -> np.ndarray:
        return np.bincount(self.row_unit[self.row_present], minlength=len(self.unit_cell))

    @cached_property
    def cell_shown(self) -> np.ndarray:
        return self.cell_sum(self.unit_shown)

    @cached_property
    def cell_marked(self) -> np.ndarray:
        return self.cell_sum(self.unit_marked)

    @cached_property
    def cell_first_unit(self) -> np.ndarray:
        """Where each cell's units begin, with the end appended."""
        return np.searchsorted(self.unit_cell, np.arange(len(self.cell_group) + 1))

    @cached_property
    def cell_block(self) -> np.ndarray:
        """Per cell, the code of its (model, group)."""
        return self.cell_model * len(self.group_names) + self.cell_group

    def cell_sum(self, per_unit: np.ndarray) -> np.ndarray:
        return np.bincount(self.unit_cell, weights=per_unit, minlength=len(self.cell_group)).astype(np.int64)

    def cell_attribute_names(self) -> np.ndarray:
        return np.append(self.attribute_names.astype(object), NONE_OF_THE_ABOVE)[self.cell_attribute]


def _checked(frame: Any, argument: str, keys: tuple[str, ...]) -> pd.DataFrame:
    frame = require_columns(frame, argument, (*keys, "present"))
    require_filled(frame, argument, (*keys, "present"))
    for name in ("model", "campaign"):
        if name in frame:
            require_filled(frame, argument, (name,))
    return frame


def _column(frame: pd.DataFrame, name: str) -> pd.Series:
    return frame[name] if name in frame else pd.Series([""] * len(frame), dtype="category")


def _codes(columns: list[pd.Series]) -> tuple[np.ndarray, np.ndarray]:
    """Codes into the sorted distinct values, so that a result does not depend on the order of rows."""
    if len(columns) > 1:
        columns = [pd.concat([column.astype(object) for column in columns], ignore_index=True)]
    column = columns[0]
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.remove_unused_categories()
        names = np.asarray(column.cat.categories, dtype=object)
        order = np.argsort(names, kind="stable")
        rank = np.empty(len(names), dtype=np.int64)
        rank[order] = np.arange(len(names))
        return rank[column.cat.codes.to_numpy()], names[order]
    codes, distinct = pd.factorize(column, sort=True)
    return codes, np.asarray(distinct, dtype=object)


def _strata(image: np.ndarray, image_group: np.ndarray, model: np.ndarray, models: int) -> np.ndarray:
    """Number the distinct (group, set of models) of the images, in order of group."""
    stratum = image_group
    if models > 1:
        for code in range(models):
            seen = np.bincount(image[model == code], minlength=len(image_group)) > 0
            stratum = np.unique(stratum * 2 + seen, return_inverse=True)[1]
    return np.unique(stratum, return_inverse=True)[1]
