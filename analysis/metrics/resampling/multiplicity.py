"""p-values of a declared family of permutation tests."""

import numpy as np

from analysis.metrics.data.arrays import Array

LEVEL = 0.05
PERMUTATIONS_PER_TEST = int(
    20 / LEVEL
)  # B ≥ 20·family/0.05: the smallest p is a twentieth of the Holm threshold


def permutation_p(observed: Array, permuted: Array) -> Array:
    """Two-sided (b + 1)/(B + 1) per test (rows of `permuted`); NaN if the test is null.

    A permutation in which the statistic is undefined counts as extreme, which is conservative.
    """
    least = np.abs(observed)[:, None] * (1 - 1e-9)  # a relabelling without an effect must count as a tie
    reached = (np.abs(permuted) >= least) | np.isnan(permuted)
    p = (reached.sum(axis=1) + 1) / (permuted.shape[1] + 1)
    return np.where(np.isnan(observed), np.nan, p)


def holm(p: Array) -> Array:
    """Holm's step-down adjustment, monotone, at most 1; null tests (NaN) are not part of the family."""
    adjusted = np.full(len(p), np.nan)
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(p[defined], kind="stable")]
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1)
    return adjusted


def max_t(observed: Array, permuted: Array) -> Array:
    """Westfall–Young single-step max-T: each statistic, divided by its spread under permutation, is compared with the
    largest."""
    adjusted = np.full(len(observed), np.nan)
    defined = ~np.isnan(permuted)
    squares = np.where(defined, permuted, 0.0) ** 2
    spread = np.sqrt(squares.sum(axis=1) / np.maximum(defined.sum(axis=1), 1))
    testable = ~np.isnan(observed) & (spread > 0)
    if testable.any():
        standard = np.abs(permuted[testable]) / spread[testable, None]
        largest = np.where(np.isnan(standard), np.inf, standard).max(axis=0)
        size = np.abs(observed[testable]) / spread[testable] * (1 - 1e-9)
        adjusted[testable] = ((largest >= size[:, None]).sum(axis=1) + 1) / (permuted.shape[1] + 1)
    adjusted[~np.isnan(observed) & ~testable] = 1.0
    return adjusted
