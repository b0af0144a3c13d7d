"""Fleiss' κ, generalised to unequal numbers of ratings."""

from typing import Any

import numpy as np

from analysis.metrics.agreement.krippendorff_alpha import NO_VARIATION
from analysis.metrics.agreement.pair_features import category_shares, corrected, observed_share, pair_features
from analysis.metrics.agreement.scopes import Measure, agreement
from analysis.metrics.agreement.units import ALL, coded, units_of
from analysis.metrics.data.results import Result
from analysis.metrics.resampling.bootstrap import DEFAULT_RESAMPLES, Resampling


def fleiss_kappa(
    ratings: Any,
    *,
    unsure: str = "missing",
    by: str = ALL,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    resampling: Resampling | None = None,
) -> Result:
    """Fleiss' κ = (p_a − p_e) / (1 − p_e) with p_e = Σ π_k² (Fleiss 1971; unequal ratings as in Gwet 2014,
    ch. 3).

    p_a is the mean share of agreeing pairs over units with two or more ratings, π_k the mean share of
    category k over units with one or more. Arguments as in `krippendorff_alpha`. Null: `no_variation` (p_e =
    1), `no_unit_rated_twice`.

    >>> fleiss_kappa(np.array([[2, 0], [1, 1], [0, 2]]), resamples=0).rows()[0]["value"]
    0.33333333333333326
    """
    ratings, resampling = coded(ratings, resampling)
    units = units_of(ratings, unsure=unsure)
    identity = np.eye(len(units.categories))
    measure = Measure(
        name="fleiss_kappa",
        features=lambda table: pair_features(table, identity),
        value=lambda sums: corrected(observed_share(sums), (category_shares(sums) ** 2).sum(axis=0)),
        reason=NO_VARIATION,
        # Units rated once count only toward p_e: with many of them κ may be far below −1.
        bounds=(-np.inf, 1.0),
    )
    return agreement(units, measure, by=by, resamples=resamples, seed=seed, resampling=resampling)
