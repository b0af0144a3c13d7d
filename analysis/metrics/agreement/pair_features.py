"""Per-unit features that the chance-corrected coefficients over pairs of ratings share."""

import numpy as np


def pair_features(table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Per unit: is it rated twice, the share of its pairs that agree (weighted), is it rated, its category
    shares.

    With r_k ratings of category k, r in all and r*_k = Σ_l w_kl r_l, the share is Σ_k r_k (r*_k − 1) / (r (r
    − 1)).
    """
    number = table.sum(axis=1)
    twice, rated = number >= 2, number >= 1
    agreeing = (table * (table @ weights - 1)).sum(axis=1)
    share = np.divide(agreeing, number * (number - 1), out=np.zeros(len(table)), where=twice)
    shares = np.divide(table, number[:, None], out=np.zeros(table.shape), where=rated[:, None])
    return np.column_stack([twice, share, rated, shares]).astype(float)


def observed_share(sums: np.ndarray) -> np.ndarray:
    """p_a: the mean over units rated twice; NaN without any."""
    return np.divide(sums[1], sums[0], out=np.full(sums[0].shape, np.nan), where=sums[0] > 0)


def category_shares(sums: np.ndarray) -> np.ndarray:
    """π_k: the mean over units rated at all (categories × …)."""
    return np.divide(sums[3:], sums[2], out=np.full(sums[3:].shape, np.nan), where=sums[2] > 0)


def corrected(observed: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """(p_a − p_e) / (1 − p_e); NaN where chance alone agrees always."""
    room = 1 - expected
    able = room > 1e-12  # p_e = Σπ² misses 1 by rounding only
    return np.divide(observed - expected, room, out=np.full(room.shape, np.nan), where=able)
