"""The share of pairs of ratings that agree."""

from typing import Any

import numpy as np

from analysis.metrics.agreement.pair_features import observed_share, pair_features
from analysis.metrics.agreement.scopes import NO_PAIRS, Measure, agreement
from analysis.metrics.agreement.units import ALL, coded, units_of
from analysis.metrics.data.results import Result
from analysis.metrics.resampling.bootstrap import DEFAULT_RESAMPLES, Resampling


def observed_agreement(
    ratings: Any,
    *,
    unsure: str = "missing",
    by: str = ALL,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    resampling: Resampling | None = None,
) -> Result:
    """Observed agreement: the mean over units with two or more ratings of the share of pairs that agree.

    Arguments as in `krippendorff_alpha`. Null without a unit rated twice: `no_unit_rated_twice`.

    >>> observed_agreement(np.array([[2, 0], [1, 1], [0, 3]]), resamples=0).rows()[0]["value"]
    0.6666666666666666
    """
    ratings, resampling = coded(ratings, resampling)
    units = units_of(ratings, unsure=unsure)
    identity = np.eye(len(units.categories))
    measure = Measure(
        name="observed_agreement",
        features=lambda table: pair_features(table, identity)[:, :2],
        value=observed_share,
        reason=NO_PAIRS,
        bounds=(0.0, 1.0),
    )
    return agreement(units, measure, by=by, resamples=resamples, seed=seed, resampling=resampling)
