"""Calibration: whether an attribute with a score of 0.7 is present in seven of ten cases."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from analysis.metrics.data.arrays import Array, ratio
from analysis.metrics.data.results import counts, labels, numbers, words
from analysis.metrics.resampling.intervals import ZERO_WIDTH, percentile_intervals, wilson

BINS = 10
NO_UNITS = "no_units"
NOT_A_PROBABILITY = "not_a_probability"


def calibration_bins(
    scorer: str,
    model: str,
    score: Array,
    share: Array,
    image: Array,
    images: int,
    resampled: Callable[[csr_array, csr_array], Array],
) -> pd.DataFrame:
    """Mean score and mean share of yes (units weighing equally) in each tenth of 0 … 1; a bin includes its lower end,
    and the last bin also 1.

    `resampled(above, below)`: the ratio of sums (bins × images) in each resample. If all units of a bin are alike, the
    interval is Wilson's on their images. A bin without units is null, `no_units`. If a score is outside 0 … 1, all bins
    are null, `not_a_probability`.
    """
    possible = bool(((score >= 0) & (score <= 1)).all())
    valid = np.full(len(score), possible)
    bin_ = np.minimum((score[valid] * BINS).astype(int), BINS - 1)
    number = np.bincount(bin_, minlength=BINS)
    shape = (BINS, images)
    above = csr_array((share[valid], (bin_, image[valid])), shape=shape)
    below = csr_array((np.ones(len(bin_)), (bin_, image[valid])), shape=shape)
    sample = resampled(above, below)
    interval = percentile_intervals(sample, sparse=np.isnan(sample).mean(axis=1))
    observed = _mean(share[valid], bin_, number)
    on = np.asarray((below > 0).sum(axis=1), dtype=float)
    constant = (interval.reason == ZERO_WIDTH) & (number > 0)
    least, most = wilson(np.nan_to_num(observed), np.maximum(on, 1))
    empty = NO_UNITS if possible else NOT_A_PROBABILITY
    reason = np.where(number == 0, empty, np.where(constant, "", interval.reason))
    edges = np.arange(BINS + 1) / BINS
    return pd.DataFrame(
        {
            "scorer": labels([scorer] * BINS),
            "model": labels([model] * BINS),
            "bin": counts(np.arange(1, BINS + 1)),
            "low": numbers(edges[:-1]),
            "high": numbers(edges[1:]),
            "mean_score": numbers(_mean(score[valid], bin_, number)),
            "observed": numbers(observed),
            "ci_low": numbers(np.where(constant, least, interval.low)),
            "ci_high": numbers(np.where(constant, most, interval.high)),
            "n": counts(number),
            "reason": words(reason),
        }
    )


def _mean(values: Array, bin_: Array, number: Array) -> Array:
    sums = np.bincount(bin_, weights=values, minlength=BINS)
    return ratio(sums, number)
