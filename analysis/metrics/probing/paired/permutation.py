"""Sign-flip p-values of paired differences."""

import numpy as np

from analysis.metrics.data.arrays import Array

MOST_EXACT = 20
ROUNDING = 1e-9  # sums in different orders differ by less
BATCH = 4_000_000  # signs drawn at a time


def sign_flip_p(differences: Array, *, permutations: int = 10_000, seed: int = 0) -> float:
    """Two-sided p of |Σd| if the sign of each difference is random.

    Exact over all 2ⁿ signs for n ≤ 20; else (b + 1)/(B + 1) over B = `permutations` draws. Zeros count as differences.
    NaN if there are none.

    The exact count does not list 2ⁿ sums. It lists the signed sums of the first half and, sorted, of the second half
    (2^⌈n/2⌉ each), and looks up for each of the former how many of the latter make the total reach |Σd| (Horowitz &
    Sahni 1974). Source: Fisher 1935, §21; Pagano & Tritchler 1983.

    >>> sign_flip_p(np.array([1.0, 2.0, 3.0]))
    0.25
    """
    values = np.asarray(differences, dtype=float)
    if not len(values):
        return float("nan")
    slack = ROUNDING * float(np.abs(values).sum())
    observed = abs(float(values.sum()))
    if observed <= slack:
        return 1.0
    if len(values) <= MOST_EXACT:
        half = len(values) // 2
        first, second = _sums(values[:half]), np.sort(_sums(values[half:]))
        reached = len(second) - np.searchsorted(second, observed - slack - first, side="left")
        return float(2 * reached.sum() / 2.0 ** len(values))
    generator = np.random.default_rng(seed)
    reached_draws, drawn = 0, 0
    while drawn < permutations:
        batch = min(permutations - drawn, max(BATCH // len(values), 1))
        signs = 2.0 * generator.integers(0, 2, (batch, len(values)), dtype=np.int8) - 1
        reached_draws += int((np.abs(signs @ values) >= observed - slack).sum())
        drawn += batch
    return (reached_draws + 1) / (permutations + 1)


def _sums(values: Array) -> Array:
    """Σ ±v over all signs: 2ⁿ sums."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums
