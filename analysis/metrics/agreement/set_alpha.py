"""Krippendorff's α of answers that are sets of labels."""

from collections.abc import Collection
from typing import Any

import numpy as np

from analysis.metrics.agreement.krippendorff_alpha import NO_VARIATION
from analysis.metrics.agreement.scopes import Measure, agreement
from analysis.metrics.agreement.units import LabelSet, units_of_sets
from analysis.metrics.data.arrays import Array, ratio
from analysis.metrics.data.results import Result
from analysis.metrics.resampling.bootstrap import DEFAULT_RESAMPLES


def krippendorff_alpha_sets(choices: Any, *, resamples: int = DEFAULT_RESAMPLES, seed: int = 0) -> Result:
    """Krippendorff's α = 1 − D_o / D_e of answers that choose several labels, with the MASI distance.

    d(A, B) = 1 − J·M, J = |A ∩ B| / |A ∪ B|, M = 1 where A = B, ⅔ where one contains the other, ⅓ where they
    only overlap, 0 where they have nothing in common. Two empty sets are equal; an empty set and another are at
    distance 1. D_o and D_e as in `krippendorff_alpha`.

    `choices`: one row per answer with the columns image, annotator and labels (a collection of names, which may
    be empty)[, model]. Order and repetition of labels do not count. An image that was not answered has no row;
    images answered once do not enter. Several answers about an image by one id all count. Null: `no_variation`
    (all answers equal), `no_unit_rated_twice`. Raises ValueError where labels are text or no collection.

    Interval: as of `krippendorff_alpha`, two-way jackknife of annotators and images, or, where ids are not
    people, the bootstrap of images. `resamples=0`: none.

    Memory grows with the number of images times that of distinct sets, 8 bytes each.

    Source: Passonneau 2006, *Measuring agreement on set-valued items (MASI) for semantic and pragmatic
    annotation*; Krippendorff 2011.

    >>> answers = [("i", "x", ["a"]), ("i", "y", ["a", "b"]), ("j", "x", []), ("j", "y", [])]
    >>> import pandas as pd
    >>> table = pd.DataFrame(answers, columns=["image", "annotator", "labels"])
    >>> round(krippendorff_alpha_sets(table, resamples=0).rows()[0]["value"], 4)  # 1 − (⅔ · 3) / (4 + ⅔)
    0.5714
    """
    units = units_of_sets(choices)
    apart = _distances(units.categories)
    measure = Measure(
        name="krippendorff_alpha_masi",
        features=lambda table: _features(table, apart),
        value=lambda sums: _alpha(sums, apart),
        reason=NO_VARIATION,
    )
    return agreement(units, measure, resamples=resamples, seed=seed)


def _distances(sets: Collection[LabelSet]) -> Array:
    """The MASI distance of each two sets (sets × sets)."""
    column = {
        label: place for place, label in enumerate(sorted({label for chosen in sets for label in chosen}))
    }
    members = np.zeros((len(sets), len(column)))
    for row, chosen in enumerate(sets):
        members[row, [column[label] for label in chosen]] = 1
    shared, size = members @ members.T, members.sum(axis=1)
    similarity = np.divide(
        shared, size[:, None] + size - shared, out=np.zeros(shared.shape), where=shared > 0
    )
    contained = shared == np.minimum(size[:, None], size)
    distance = 1 - similarity * np.where(contained, 2 / 3, 1 / 3)
    np.fill_diagonal(distance, 0.0)
    return np.asarray(distance)


def _features(table: Array, apart: Array) -> Array:
    """Per unit: the summed distance of its pairs over m − 1, then its pairable answers by set."""
    number = table.sum(axis=1)
    pairable = number >= 2
    pairs = (table * (table @ apart)).sum(axis=1) / 2  # a set is at distance 0 from itself
    distance = np.where(pairable, pairs / np.maximum(number - 1, 1), 0.0)
    return np.column_stack([distance, table * pairable[:, None]])


def _alpha(sums: Array, apart: Array) -> Array:
    observed, sets = sums[0], sums[1:]
    expected = (sets * np.tensordot(apart, sets, 1)).sum(axis=0) / 2
    return np.asarray(1 - ratio(observed * (sets.sum(axis=0) - 1), expected))
