"""Krippendorff's α for answers that are sets of labels."""

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
    """Krippendorff's α = 1 − D_o / D_e for answers that choose several labels, with the MASI distance.

    d(A, B) = 1 − J·M, J = |A ∩ B| / |A ∪ B|, M = 1 where A = B, ⅔ where one contains the other, ⅓ where they only
    overlap, 0 where they have nothing in common. Two empty sets are equal; an empty and a non-empty set are at distance
    1. D_o and D_e as in `krippendorff_alpha`.

    `choices`: one row per answer with the columns image, annotator and labels (a collection of names, which may be
    empty)[, model]. Order and repetition of labels do not count. An image without an answer has no row; images with one
    answer are left out. Several answers about an image by one id all count. Null: `no_variation` (all answers are
    equal), `no_unit_rated_twice`. Raises ValueError if labels are text or not a collection.

    Interval: as in `krippendorff_alpha`, the two-way jackknife of annotators and images or, if ids do not identify
    people, the bootstrap of images. `resamples=0` gives no interval.

    Memory: 8 bytes × number of images × number of distinct sets.

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
    """The MASI distance of every pair of sets (sets × sets)."""
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
