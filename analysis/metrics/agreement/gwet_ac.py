"""Gwet's AC1 and AC2."""

from typing import Any

import numpy as np

from analysis.metrics.agreement.pair_features import category_shares, corrected, observed_share, pair_features
from analysis.metrics.agreement.scopes import NO_PAIRS, Measure, agreement
from analysis.metrics.agreement.units import ALL, coded, units_of
from analysis.metrics.data.arrays import Array
from analysis.metrics.data.results import Result
from analysis.metrics.data.validation import require_choice
from analysis.metrics.resampling.bootstrap import DEFAULT_RESAMPLES, Resampling

KINDS = ("ac1", "ac2")
WEIGHTS = ("quadratic", "linear", "ordinal")


def gwet_ac(
    ratings: Any,
    *,
    kind: str = "ac1",
    weights: str = "quadratic",
    unsure: str = "missing",
    by: str = ALL,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    resampling: Resampling | None = None,
) -> Result:
    """Gwet's AC1 (nominal) or AC2 (weighted) = (p_a − p_e) / (1 − p_e) (Gwet 2008; 2014, ch. 4–5).

    p_a is a mean over units with two or more ratings, and the category shares π_k over units with one or more.
    AC1: p_e = Σ π_k (1 − π_k) / (q − 1). AC2: p_e = T_w Σ π_k (1 − π_k) / (q (q − 1)), T_w = Σ w_kl.
    q counts the declared categories, used or not: 2 for presence, 4 or 5 for Likert, the columns of value
    counts. `weights` (AC2 only): "quadratic" 1 − (k − l)²/(max − min)², "linear" 1 − |k − l|/(max − min),
    both on the category values; "ordinal" 1 − C(|i − j| + 1, 2)/C(q, 2) on their ranks. Other arguments as in
    `krippendorff_alpha`. Null without a unit rated twice: `no_unit_rated_twice`.

    >>> round(gwet_ac(np.array([[2, 0], [1, 1], [0, 2]]), resamples=0).rows()[0]["value"], 12)
    0.333333333333
    """
    require_choice(kind, "kind", KINDS)
    require_choice(weights, "weights", WEIGHTS)
    ratings, resampling = coded(ratings, resampling)
    units = units_of(ratings, unsure=unsure)
    q = len(units.categories)
    matrix = np.eye(q) if kind == "ac1" else weight_matrix(units.categories, weights)
    most_by_chance = matrix.sum() / q**2  # p_e where all categories are equally frequent

    def value(sums: Array) -> Array:
        shares = category_shares(sums)
        expected = matrix.sum() / (q * (q - 1)) * (shares * (1 - shares)).sum(axis=0)
        return corrected(observed_share(sums), expected)

    measure = Measure(
        name="gwet_ac1" if kind == "ac1" else f"gwet_ac2_{weights}",
        features=lambda table: pair_features(table, matrix),
        value=value,
        reason=NO_PAIRS,
        bounds=(-most_by_chance / (1 - most_by_chance), 1.0),
    )
    return agreement(units, measure, by=by, resamples=resamples, seed=seed, resampling=resampling)


def weight_matrix(categories: tuple[Any, ...], weights: str) -> Array:
    """w_kl: 1 on the diagonal, 0 between the extremes."""
    if weights == "ordinal":
        rank = np.arange(len(categories))
        apart = np.abs(rank[:, None] - rank) + 1
        return np.asarray(1 - apart * (apart - 1) / (len(categories) * (len(categories) - 1)))
    value = np.asarray(categories, dtype=float)
    distance = np.abs(value[:, None] - value) / (value.max() - value.min())
    return np.asarray(1 - (distance**2 if weights == "quadratic" else distance))
