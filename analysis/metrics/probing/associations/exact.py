"""The exact test of an association: how often a descriptor would get a word if descriptors were shuffled."""

import numpy as np

from analysis.metrics.data.arrays import Array


def upper_tail(tf: Array, cells: Array, with_word: Array, of_descriptor: Array) -> Array:
    """P(X ≥ tf), X ~ Hypergeometric(`cells` answered, `with_word` of them, `of_descriptor` drawn).

    Each distinct row is computed once: the published study has hundreds of thousands of pairs and a few thousand
    distinct rows.
    """
    from scipy.stats import hypergeom  # half a second to import

    if not len(tf):
        return np.empty(0)
    rows, place = np.unique(np.stack([tf, cells, with_word, of_descriptor]), axis=1, return_inverse=True)
    x, total, marked, drawn = rows
    p = np.asarray(hypergeom.sf(x - 1, total, marked, drawn), dtype=float)
    return np.asarray(np.clip(p, 0.0, 1.0)[place.reshape(-1)])


def upper_tail_of_sums(tf: Array, letters: Array, cells: Array, with_word: Array, drawn: Array) -> Array:
    """P(Σ X ≥ tf) per pair, X independent hypergeometric counts: one for each of the pair's `letters`.

    `cells`, `with_word` and `drawn` contain the letters of the first pair, then those of the second, … All counts of at
    least `tf` are one state, so the work grows with tf and not with the number of answers. Only positive terms are
    added, so that small tails are accurate.
    """
    first = np.cumsum(letters) - letters
    p = np.ones(len(tf))
    for count in np.unique(tf[tf > 0]).tolist():
        rows = np.flatnonzero(tf == count)
        rows = rows[np.argsort(-letters[rows], kind="stable")]
        below, reached = np.zeros((len(rows), count)), np.zeros(len(rows))
        below[:, 0] = 1
        for step in range(int(letters[rows].max(initial=0))):
            active = int(np.searchsorted(-letters[rows], -step))
            at = first[rows[:active]] + step
            mass, tail = _masses(count, cells[at], with_word[at], drawn[at])
            before = below[:active]
            reached[:active] += (before * tail[:, ::-1]).sum(axis=1)
            after = np.zeros_like(before)
            for more in range(min(count, int(np.minimum(with_word[at], drawn[at]).max(initial=0)) + 1)):
                after[:, more:] += before[:, : count - more] * mass[:, more, None]
            below[:active] = after
        p[rows] = np.minimum(reached, 1.0)
    return p


def _masses(count: int, cells: Array, with_word: Array, drawn: Array) -> tuple[Array, Array]:
    """P(X = k) and P(X > k) for k below `count`, one row per letter; each distinct letter is computed once."""
    from scipy.stats import hypergeom

    widest = int(max(cells.max(initial=0), with_word.max(initial=0), drawn.max(initial=0))) + 1
    _, index, place = np.unique(
        (cells * widest + with_word) * widest + drawn, return_index=True, return_inverse=True
    )
    of_letter = (cells[index, None], with_word[index, None], drawn[index, None])
    k = np.arange(count)
    mass, tail = hypergeom.pmf(k, *of_letter), hypergeom.sf(k, *of_letter)
    return np.asarray(mass)[place], np.asarray(tail)[place]


def benjamini_hochberg(p: Array, *, tests: int | None = None) -> Array:
    """q = min over larger p of p·m/rank, at most 1; NaN is not part of the family.

    m is the number of p, or `tests` if the family has further tests with p = 1.

    Source: Benjamini & Hochberg 1995; discrete p-values make it conservative.
    """
    q = np.full(len(p), np.nan)
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(-p[defined], kind="stable")]
    rank = np.arange(len(order), 0, -1)
    m = len(order) if tests is None else tests
    q[order] = np.minimum(np.minimum.accumulate(p[order] * m / rank), 1) if len(order) else p[order]
    return q
