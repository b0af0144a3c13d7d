"""Percentile and Wilson intervals."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from analysis.metrics.data.arrays import Array

LEVEL = 0.95
SPARSE_SHARE = 0.05
ROUNDING = 1e-9  # sums of the same shares in different orders differ by less

TOO_SPARSE = "too_sparse"
UNBOUNDED = "unbounded"
ZERO_WIDTH = "zero_width"
NO_RESAMPLES = "no_resamples"
TOO_FEW_ANNOTATORS = "too_few_annotators"


@dataclass(frozen=True, eq=False)
class Intervals:
    """One interval per row. An end is NaN if it is null; `reason` states why ('' if both ends are given)."""

    low: Array
    high: Array
    reason: Array
    undefined: Array


def no_intervals(rows: int) -> Intervals:
    """Intervals that were not requested: null, without a reason."""
    nothing = np.full(rows, np.nan)
    return Intervals(nothing, nothing, np.full(rows, "", dtype=object), np.zeros(rows, dtype=int))


def percentile_intervals(samples: Array, *, sparse: Array | None = None, level: float = LEVEL) -> Intervals:
    """Percentile interval of each row of `samples` (rows × resamples).

    NaN is a resample in which the statistic is undefined: it is left out and counted. +inf is kept: an infinite end is
    null, `unbounded`. `sparse` is the share of resamples in which a cell has no weight: above 5 % the interval is null,
    `too_sparse`. An interval of zero width is null, `zero_width`: resampling saw no variation, but this does not show
    that there is none.
    """
    rows, resamples = samples.shape
    defined = resamples - np.isnan(samples).sum(axis=1)
    ordered = np.sort(samples, axis=1)  # NaN sorts last
    low, high = (_quantile(ordered, defined, q) for q in ((1 - level) / 2, (1 + level) / 2))
    reason = np.full(rows, "", dtype=object)
    reason[np.isinf(high)] = UNBOUNDED
    with np.errstate(invalid="ignore"):
        reason[np.isfinite(high) & (high - low <= ROUNDING * np.abs(high))] = ZERO_WIDTH
    reason[defined == 0] = NO_RESAMPLES
    if sparse is not None:
        reason[sparse > SPARSE_SHARE] = TOO_SPARSE
    null = np.isin(reason, [ZERO_WIDTH, NO_RESAMPLES, TOO_SPARSE])
    low = np.where(null | ~np.isfinite(low), np.nan, low)
    high = np.where(null | ~np.isfinite(high), np.nan, high)
    return Intervals(low, high, reason, resamples - defined)


def _quantile(ordered: Array, defined: Array, q: float) -> Array:
    """Linear interpolation between order statistics (Hyndman & Fan type 7) over the first `defined` of each
    row."""
    if not len(ordered):
        return np.empty(0)
    place = q * np.maximum(defined - 1, 0)
    below = np.floor(place).astype(int)
    above = np.minimum(below + 1, np.maximum(defined - 1, 0))
    row = np.arange(len(ordered))
    lower, upper = ordered[row, below].astype(float), ordered[row, above].astype(float)
    part = place - below
    with np.errstate(invalid="ignore"):
        between = lower + part * (upper - lower)
    return np.where((part == 0) | (lower == upper), lower, np.where(np.isinf(upper), upper, between))


def wilson(share: Array, trials: Array, *, level: float = LEVEL) -> tuple[Array, Array]:
    """Wilson score interval of a share; `trials` may be an effective, fractional number."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    trials = np.asarray(trials, dtype=float)
    share = np.asarray(share, dtype=float)
    centre = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * np.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    low, high = np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)
    return np.where(share == 0, 0.0, low), np.where(share == 1, 1.0, high)
