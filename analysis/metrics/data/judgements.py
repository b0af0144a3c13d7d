"""Judgements as integer codes and counts: computed once, shared by every measure."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.rows import Rows, SlotLayout
from analysis.metrics.data.validation import binary, require_columns, require_filled

NONE_OF_THE_ABOVE = "none of the above"
MARKED_AT_ONCE = 1_000_000  # a table of this many marks is cheaper than any sort
KEYS = ("image", "identity_group", "attribute", "annotator")


@dataclass(frozen=True, eq=False)
class Judgements:
    """A table of judgements, validated and coded.

    A *cell* is (model, identity group, attribute); a *unit* is (cell, image); an image is one file within one group.
    Cells are ordered by model, then group, then attribute, and images by group, so that both are contiguous within a
    group. `stratum` of an image is its group and the set of models it was judged for: images shared by two models or
    campaigns are resampled together, other images separately. `row_campaign` distinguishes answers about one unit in
    two campaigns from a repeated answer.
    """

    model_names: Array
    group_names: Array
    attribute_names: Array
    annotator_names: Array
    image_names: Array
    rows: Rows
    unit_cell: Array
    unit_image: Array
    unit_shown: Array
    unit_marked: Array
    cell_model: Array
    cell_group: Array
    cell_attribute: Array
    cell_is_none: Array
    image_group: Array
    image_stratum: Array

    @classmethod
    def of(cls, judgements: Any, *, none_rows: pd.DataFrame | None = None) -> "Judgements":
        """Validate and code a DataFrame (image, identity_group, attribute, annotator, present[, model,
        campaign]).

        `none_rows` are the 'none of the above' answers of the screens; they become separate cells, which only
        `tendency(none_of_the_above="as_random")` counts. A `Judgements` is returned unchanged.
        """
        if isinstance(judgements, Judgements):
            if none_rows is not None:
                raise ValueError("none_rows: cannot be added to existing Judgements")
            return judgements
        frames = [_checked(judgements, "judgements", KEYS)]
        if none_rows is not None:
            frames.append(_checked(none_rows, "none_rows", tuple(k for k in KEYS if k != "attribute")))
        present = _joined(
            [binary(f["present"], name) for f, name in zip(frames, ("judgements", "none_rows"), strict=False)]
        )
        model, model_names = codes_of([_column(f, "model") for f in frames])
        if not len(model_names):
            model_names = np.array([""], dtype=object)  # without judgements there is one unnamed model
        group, group_names = codes_of([f["identity_group"] for f in frames])
        annotator, annotator_names = codes_of([f["annotator"] for f in frames])
        label, image_labels = codes_of([f["image"] for f in frames])
        campaign, campaigns = codes_of([_column(f, "campaign") for f in frames])
        attribute, attribute_names = codes_of([frames[0]["attribute"]])
        # The none cell sorts after every attribute of its group.
        width = len(attribute_names) + 1
        attribute = _joined([attribute, *(np.full(len(f), width - 1) for f in frames[1:])])

        image, image_group, image_label = _images(group, label, len(image_labels), len(group_names))
        stratum = _strata(image, image_group, model, len(model_names))
        if len(model_names) > 1:
            order = np.argsort(stratum, kind="stable")
            rank = np.empty_like(order)
            rank[order] = np.arange(len(order))
            image, image_group, image_label, stratum = (
                rank[image],
                image_group[order],
                image_label[order],
                stratum[order],
            )

        place = SlotLayout.of(image_group, len(group_names), width)
        slot = place.of_rows(model, image, attribute)
        slots = place.slots * len(model_names)
        used, absent, marked = _units(slot, present, slots)
        unit_model, unit_group, unit_attribute, unit_image = place.of_slots(used)
        cell_key = (unit_model * max(len(group_names), 1) + unit_group) * width + unit_attribute
        cell_starts = np.flatnonzero(np.diff(cell_key, prepend=-1))
        return cls(
            model_names=model_names,
            group_names=group_names,
            attribute_names=attribute_names,
            annotator_names=annotator_names,
            image_names=image_labels[image_label],
            rows=Rows(slot, slots, image, annotator, len(annotator_names), campaign, len(campaigns), present),
            unit_cell=np.repeat(
                np.arange(len(cell_starts), dtype=np.int32), np.diff(np.append(cell_starts, len(cell_key)))
            ),
            unit_image=unit_image.astype(np.int32),
            unit_shown=absent + marked,
            unit_marked=marked,
            cell_model=unit_model[cell_starts].astype(np.int32),
            cell_group=unit_group[cell_starts].astype(np.int32),
            cell_attribute=unit_attribute[cell_starts].astype(np.int32),
            cell_is_none=unit_attribute[cell_starts] == width - 1,
            image_group=image_group.astype(np.int32),
            image_stratum=stratum.astype(np.int32),
        )

    @property
    def row_unit(self) -> Array:
        """The unit of each judgement: rows are sorted by cell, image, annotator, campaign, answer."""
        return self.rows.ordered[0]

    @property
    def row_annotator(self) -> Array:
        return self.rows.ordered[1]

    @property
    def row_campaign(self) -> Array:
        return self.rows.ordered[2]

    @property
    def row_present(self) -> Array:
        return self.rows.ordered[3]

    @cached_property
    def cell_shown(self) -> Array:
        return self.cell_sum(self.unit_shown)

    @cached_property
    def cell_marked(self) -> Array:
        return self.cell_sum(self.unit_marked)

    @cached_property
    def cell_first_unit(self) -> Array:
        """The index of each cell's first unit, with the end appended."""
        return np.searchsorted(self.unit_cell, np.arange(len(self.cell_group) + 1))

    @cached_property
    def cell_block(self) -> Array:
        """Per cell, the code of its (model, group)."""
        return np.asarray(self.cell_model * len(self.group_names) + self.cell_group)

    def cell_sum(self, per_unit: Array) -> Array:
        return np.bincount(self.unit_cell, weights=per_unit, minlength=len(self.cell_group)).astype(np.int64)

    def cell_attribute_names(self) -> Array:
        names: Array = np.append(self.attribute_names.astype(object), NONE_OF_THE_ABOVE)
        return names[self.cell_attribute]


def _checked(frame: Any, argument: str, keys: tuple[str, ...]) -> pd.DataFrame:
    checked: pd.DataFrame = require_columns(frame, argument, (*keys, "present"))
    require_filled(checked, argument, (*keys, "present"))
    for name in ("model", "campaign"):
        if name in checked:
            require_filled(checked, argument, (name,))
    return checked


def _column(frame: pd.DataFrame, name: str) -> pd.Series | int:
    """The column, or the number of rows if it is missing."""
    return frame[name] if name in frame else len(frame)


def _joined(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def dense(keys: Array, size: int) -> tuple[Array, Array]:
    """Codes of `keys` (0 ≤ key < size) into the sorted distinct keys, and these keys; avoids sorting if possible."""
    if size > max(MARKED_AT_ONCE, len(keys)):
        distinct, codes = np.unique(keys, return_inverse=True)
        return codes, distinct
    present = np.zeros(size, dtype=bool)
    present[keys] = True
    distinct = np.flatnonzero(present)
    if len(distinct) == size:
        return keys, distinct
    rank = np.cumsum(present, dtype=np.int32)
    rank -= 1
    return rank[keys], distinct


def codes_of(columns: list[Any]) -> tuple[Array, Array]:
    """Codes into the sorted distinct values: results must not depend on the order of rows.

    A number instead of a column means this number of rows without a name.
    """
    parts = [_codes(column) for column in columns]
    if len(parts) == 1:
        return parts[0]
    place, names = pd.factorize(np.concatenate([names for _, names in parts]), sort=True)
    ends = np.cumsum([len(names) for _, names in parts])[:-1]
    joined = [
        among[codes] if len(among) else codes
        for (codes, _), among in zip(parts, np.split(place, ends), strict=True)
    ]
    return np.concatenate(joined), np.asarray(names, dtype=object)


def _codes(column: pd.Series | int) -> tuple[Array, Array]:
    if isinstance(column, int):
        return np.broadcast_to(np.int64(0), column), np.array([""] if column else [], dtype=object)
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, used = dense(column.cat.codes.to_numpy(), len(column.cat.categories))
        names = np.asarray(column.cat.categories, dtype=object)[used]
        order = np.argsort(names, kind="stable")
        if (order == np.arange(len(order))).all():
            return codes, names
        rank = np.empty(len(names), dtype=np.int64)
        rank[order] = np.arange(len(names))
        return rank[codes], names[order]
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu" and len(column):
        values = column.to_numpy()
        low, high = int(values.min()), int(values.max())
        if high - low < max(MARKED_AT_ONCE, len(values)) and high < np.iinfo(np.int64).max:
            # uint64 and int64 together would become floats.
            whole = values.view(np.int64) if values.dtype == np.uint64 else values
            codes, used = dense(whole if low == 0 else whole.astype(np.int64) - low, high - low + 1)
            return codes, (used + low).astype(object)
    codes, distinct = pd.factorize(column, sort=True)
    return codes, np.asarray(distinct, dtype=object)


def _units(slot: Array, present: Array, slots: int) -> tuple[Array, Array, Array]:
    """The used slots, in order, and the numbers of no and of yes answers in each."""
    answer = slot * 2
    answer += present
    if slots > max(MARKED_AT_ONCE, len(slot)):
        answer.sort()
        begins = np.ones(len(answer), dtype=bool)
        np.greater(answer[1:] ^ answer[:-1], 1, out=begins[1:])  # not only the answer differs
        starts = np.flatnonzero(begins)
        used = answer[starts] >> 1
        answer &= 1
        marked = np.add.reduceat(answer, starts) if len(starts) else starts
        return used, np.diff(np.append(starts, len(answer))) - marked, marked
    answer_counts = np.bincount(answer, minlength=2 * slots)
    absent, marked = answer_counts[0::2], answer_counts[1::2]
    used = np.flatnonzero(absent + marked)
    if len(used) < slots:
        absent, marked = absent[used], marked[used]
    return used, absent, marked


def _images(group: Array, label: Array, labels: int, groups: int) -> tuple[Array, Array, Array]:
    """The image of each row (images are ordered by group, then label), and the group and label of each image."""
    if groups == 1:
        return label, np.zeros(labels, dtype=np.int32), np.arange(labels)
    one_group = np.zeros(labels, dtype=np.int32)
    one_group[label] = group
    if (one_group[label] == group).all():  # no file is in two groups
        order = np.argsort(one_group, kind="stable")
        if (order == np.arange(labels)).all():
            return label, one_group, order
        rank = np.empty(labels, dtype=np.int64)
        rank[order] = np.arange(labels)
        return rank[label], one_group[order], order
    image, key = dense(group.astype(np.int64) * labels + label, groups * labels)
    return image, key // labels, key % labels


def _strata(image: Array, image_group: Array, model: Array, models: int) -> Array:
    """Number the distinct (group, set of models) of the images, in order of group."""
    stratum = image_group
    if models > 1:
        for code in range(models):
            in_model = np.bincount(image[model == code], minlength=len(image_group)) > 0
            stratum = np.unique(stratum * 2 + in_model, return_inverse=True)[1]
    return np.asarray(np.unique(stratum, return_inverse=True)[1])
