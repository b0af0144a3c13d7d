"""Agreement of boxes without each annotator, each image, and each annotator's drawings on one image."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analysis.metrics.boxes.geometry import Boxes
from analysis.metrics.data.annotator_ids import IdSigns
from analysis.metrics.data.arrays import Array, ratio
from analysis.metrics.data.judgements import dense
from analysis.metrics.resampling.intervals import Intervals
from analysis.metrics.resampling.jackknife import LeftOut, jackknife_intervals


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of drawings within a unit: their positions, unit and distance, and one column for each measure that is a
    mean over units of means over pairs."""

    i: Array
    j: Array
    unit: Array
    distance: Array
    columns: Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Across:
    """The units of one attribute, and its pairs of drawings on different images with their distance."""

    units: Array
    i: Array
    j: Array
    apart: Array


@dataclass(frozen=True, eq=False)
class Owners:
    """Drawings that are left out together. `owner[d]` is the owner of drawing d. If the unit has exactly one other
    owner, without whom only d would remain, `partner[d]` is that owner; otherwise −1."""

    owner: Array
    partner: Array
    number: int

    @classmethod
    def of(cls, owner: Array, unit: Array) -> "Owners":
        """Build the owners from the `unit` of each drawing, sorted."""
        number = int(owner.max(initial=-1)) + 1
        order = np.lexsort((owner, unit))
        begins = np.flatnonzero(np.diff(unit[order], prepend=-1))
        ends = np.append(begins[1:], len(unit)) - 1
        least, most = owner[order][begins], owner[order][ends]
        place = np.searchsorted(unit[order][begins], unit)
        changes = np.diff(owner[order], prepend=-1) != 0
        changes[begins] = True
        kinds = np.add.reduceat(changes, begins) if len(begins) else np.empty(0, dtype=int)
        unit_owner, keys = dense(
            unit.astype(np.int64) * number + owner, (int(unit.max(initial=-1)) + 1) * number
        )
        alone = np.bincount(unit_owner, minlength=len(keys))[unit_owner] == 1
        co_owner = least[place] + most[place] - owner
        return cls(owner, np.where(alone & (kinds[place] == 2), co_owner, -1), number)


def drawn_by_people(data: Boxes) -> bool:
    """Whether each id of a drawing belongs to one person, by the signs of `annotator_ids_usable`."""
    annotator, unit = data.drawing_annotator, data.drawing_unit
    if not len(annotator):
        return False
    return IdSigns.of(annotator, unit, data.unit_image[unit]).usable


def box_intervals(
    data: Boxes, used: Array, pairs: Pairs, across: list[Across], value: Array, bounds: Array
) -> Intervals:
    """Intervals of the measures of one model (`value`: the columns of `pairs`, observed and expected distance, α).

    `used` marks the units with at least two drawings; `bounds` are the smallest and largest possible value of each
    measure.
    """
    drawn = np.flatnonzero(used[data.drawing_unit])
    unit = data.drawing_unit[drawn]
    person = dense(data.drawing_annotator[drawn], int(data.drawing_annotator.max()) + 1)[0]
    image = dense(data.unit_image[unit], len(data.image_names))[0]
    cell = np.unique(person.astype(np.int64) * (int(image.max(initial=0)) + 1) + image, return_inverse=True)[
        1
    ]
    people, pictures, cells = (
        _without(Owners.of(owner, unit), data, drawn, used, pairs, across) for owner in (person, image, cell)
    )
    moved = np.nan_to_num(cells - value[:, None])
    ends = jackknife_intervals(
        value,
        annotators=_left_out(people),
        images=_left_out(pictures),
        chance=(moved**2).sum(axis=1),
    )
    low, high = (np.clip(end, bounds[:, 0], bounds[:, 1]) for end in (ends.low, ends.high))
    return Intervals(low, high, ends.reason, ends.undefined)


def _left_out(values: Array) -> LeftOut:
    return LeftOut(np.repeat(np.arange(len(values)), values.shape[1]), values.ravel())


def _without(
    owners: Owners, data: Boxes, drawn: Array, used: Array, pairs: Pairs, across: list[Across]
) -> Array:
    """Each measure without each owner (measures × owners)."""
    place = np.full(len(data.drawing_unit), -1)
    place[drawn] = np.arange(len(drawn))
    inside = used[pairs.unit]
    unit = pairs.unit[inside]
    ends = [place[side[inside]] for side in (pairs.i, pairs.j)]
    incidence = _incidence([owners.owner[end] for end in ends])
    touched = np.concatenate([unit[row] for row, _ in incidence]).astype(np.int64)
    owner = np.concatenate([key for _, key in incidence])
    code, keys = dense(touched * owners.number + owner, len(used) * owners.number)
    change = _LostPairs(
        unit=keys // owners.number,
        owner=keys % owners.number,
        whole=np.bincount(unit, minlength=len(used)),
        lost=np.bincount(code, minlength=len(keys)),
    )
    rows = np.concatenate([row for row, _ in incidence])
    values: list[Array] = []
    units = change.summed(-(change.remaining == 0).astype(float), owners.number) + used.sum()
    for column in (*pairs.columns.values(), pairs.distance):
        column = column[inside].astype(float)
        old, new = change.means(
            np.bincount(unit, weights=column, minlength=len(used)),
            np.bincount(code, weights=column[rows], minlength=len(keys)),
        )
        if len(values) == len(pairs.columns):
            return np.stack([*values, *_alpha_without(owners, data, place, change, old, new, across)])
        total = np.divide(
            np.bincount(unit, weights=column, minlength=len(used)), np.maximum(change.whole, 1)
        ).sum()
        values.append(ratio(total + change.summed(np.nan_to_num(new) - old, owners.number), units))
    raise AssertionError("the distance is the last column")


@dataclass(frozen=True, eq=False)
class _LostPairs:
    """(unit, owner) pairs in which the owner has `lost` of the unit's `whole` pairs of drawings."""

    unit: Array
    owner: Array
    whole: Array
    lost: Array

    @property
    def remaining(self) -> Array:
        return np.asarray(self.whole[self.unit] - self.lost)

    def means(self, whole: Array, lost: Array) -> tuple[Array, Array]:
        """Mean over the unit's pairs, and over those without the owner; NaN if no pair is left."""
        return whole[self.unit] / self.whole[self.unit], ratio(whole[self.unit] - lost, self.remaining)

    def summed(self, values: Array, owners: int) -> Array:
        return np.bincount(self.owner, weights=values, minlength=owners)


def _alpha_without(
    owners: Owners,
    data: Boxes,
    place: Array,
    change: _LostPairs,
    old: Array,
    new: Array,
    across: list[Across],
) -> tuple[Array, Array, Array]:
    """Observed and expected distance, and α, without each owner."""
    size = np.bincount(data.drawing_unit, minlength=len(change.whole)).astype(float)
    at = data.drawing_unit[np.flatnonzero(place >= 0)]
    key = at.astype(np.int64) * owners.number + owners.owner
    drawings_of = np.bincount(
        np.searchsorted(change.unit.astype(np.int64) * owners.number + change.owner, key),
        minlength=len(change.unit),
    )
    stays = change.remaining > 0
    before = size[change.unit]
    after = np.where(stays, before - drawings_of, 0.0)
    observed_change = np.where(stays, after * np.nan_to_num(new), 0.0) - before * old
    mean = np.zeros(len(change.whole))
    mean[change.unit] = old
    sums = np.zeros((3, owners.number))  # ΣD_o, ΣD_e, drawings
    for attribute in across:
        in_attribute = np.isin(change.unit, attribute.units)
        observed, drawings = (
            total
            + np.bincount(change.owner[in_attribute], weights=moved[in_attribute], minlength=owners.number)
            for total, moved in (
                ((size * mean)[attribute.units].sum(), observed_change),
                (size[attribute.units].sum(), after - before),
            )
        )
        pairs, apart = (
            np.full(owners.number, float(len(attribute.apart))),
            np.full(owners.number, attribute.apart.sum()),
        )
        sides = [place[attribute.i], place[attribute.j]]
        for row, owner in _incidence(
            [*(owners.owner[s] for s in sides), *(owners.partner[s] for s in sides)]
        ):
            pairs -= np.bincount(owner, minlength=owners.number)
            apart -= np.bincount(owner, weights=attribute.apart[row], minlength=owners.number)
        able = pairs > 0
        expected = np.where(able, drawings * apart / np.maximum(pairs, 1), 0.0)
        sums += np.where(able, np.stack([observed, expected, drawings]), 0.0)
    return ratio(sums[0], sums[2]), ratio(sums[1], sums[2]), 1 - ratio(sums[0], sums[1])


def _incidence(columns: list[Array]) -> list[tuple[Array, Array]]:
    """For each column of owners, the rows with an owner (−1: none) that no earlier column has in that row."""
    incidence = []
    for number, column in enumerate(columns):
        new = column >= 0
        for earlier in columns[:number]:
            new &= column != earlier
        rows = np.flatnonzero(new)
        incidence.append((rows, column[rows]))
    return incidence
