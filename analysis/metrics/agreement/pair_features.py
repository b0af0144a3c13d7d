"""Per-unit features shared by the chance-corrected coefficients over pairs of ratings."""

import numpy as np

from analysis.metrics.data.arrays import Array, ratio


def pair_features(table: Array, weights: Array) -> Array:
    """Per unit: whether it is rated twice, the (weighted) share of its pairs that agree, whether it is rated, its
    category shares.

    With r_k ratings of category k, r in all and r*_k = Σ_l w_kl r_l, the share is Σ_k r_k (r*_k − 1) / (r (r
    − 1)).
    """
    number = table.sum(axis=1)
    twice, rated = number >= 2, number >= 1
    agreeing = (table * (table @ weights - 1)).sum(axis=1)
    share = np.divide(agreeing, number * (number - 1), out=np.zeros(len(table)), where=twice)
    shares = np.divide(table, number[:, None], out=np.zeros(table.shape), where=rated[:, None])
    return np.column_stack([twice, share, rated, shares]).astype(float)


def observed_share(sums: Array) -> Array:
    """p_a: the mean over units rated twice; NaN if there are none."""
    return ratio(sums[1], sums[0])


def category_shares(sums: Array) -> Array:
    """π_k: the mean over all rated units (categories × …)."""
    return ratio(sums[3:], sums[2])


def corrected(observed: Array, expected: Array) -> Array:
    """(p_a − p_e) / (1 − p_e); NaN if chance alone gives full agreement."""
    room = 1 - expected
    able = room > 1e-12  # p_e = Σπ² differs from 1 only by rounding
    corrected_share: Array = np.divide(observed - expected, room, out=np.full(room.shape, np.nan), where=able)
    return corrected_share
