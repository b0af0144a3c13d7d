"""The exact test of an association: how often a word would fall to a descriptor if descriptors were shuffled."""

from collections.abc import Sequence

import numpy as np

from analysis.metrics.data.arrays import Array


def upper_tail(tf: Array, cells: Array, with_word: Array, of_descriptor: Array) -> Array:
    """P(X ≥ tf), X ~ Hypergeometric(`cells` answered, `with_word` of them, `of_descriptor` drawn).

    Each distinct row is computed once: the published study has hundreds of thousands of pairs and a few thousand
    rows.
    """
    from scipy.stats import hypergeom  # half a second to import

    if not len(tf):
        return np.empty(0)
    rows, place = np.unique(np.stack([tf, cells, with_word, of_descriptor]), axis=1, return_inverse=True)
    x, total, marked, drawn = rows
    p = np.asarray(hypergeom.sf(x - 1, total, marked, drawn), dtype=float)
    return np.asarray(np.clip(p, 0.0, 1.0)[place.reshape(-1)])


def upper_tail_of_sum(tf: int, letters: Sequence[tuple[int, int, int]]) -> float:
    """P(Σ X ≥ tf) over independent letters (cells, with the word, of the descriptor), by convolution."""
    from scipy.stats import hypergeom

    total = np.ones(1)
    for cells, with_word, of_descriptor in letters:
        most = min(with_word, of_descriptor)
        total = np.convolve(total, hypergeom.pmf(np.arange(most + 1), cells, with_word, of_descriptor))
    return float(min(total[tf:].sum(), 1.0)) if tf > 0 else 1.0


def benjamini_hochberg(p: Array) -> Array:
    """q = min over larger p of p·m/rank, at most 1; NaN leaves the family.

    Source: Benjamini & Hochberg 1995; discrete p-values make it conservative.
    """
    q = np.full(len(p), np.nan)
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(-p[defined], kind="stable")]
    rank = np.arange(len(order), 0, -1)
    q[order] = np.minimum(np.minimum.accumulate(p[order] * len(order) / rank), 1) if len(order) else p[order]
    return q
