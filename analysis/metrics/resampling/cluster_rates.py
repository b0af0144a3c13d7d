"""Intervals of shares of clustered answers, such as answers about the scenarios of a probe."""

from dataclasses import dataclass

import numpy as np

from analysis.metrics.data.arrays import Array, ratio
from analysis.metrics.resampling.intervals import wilson

ONE_CLUSTER = "one_cluster"
NO_ANSWERS = "no_answers"


@dataclass(frozen=True, eq=False)
class Rates:
    """One share per cell; NaN where null. `reason`: why the share or its interval is null, '' if neither is."""

    yes: Array
    answers: Array
    clusters: Array
    share: Array
    design_effect: Array
    low: Array
    high: Array
    reason: Array


def cluster_rates(yes: Array, *, cell: Array, cells: int, cluster: Array) -> Rates:
    """The share of `yes` (booleans, one per answer) in each cell, with Wilson's interval on n / design effect.

    With k of n answers over C clusters, p = k/n and V = C/(C−1)·Σ_c (k_c − n_c·p)²/n²: deff = max(1, V/(p(1−p)/n)). If
    p is 0 or 1, every cluster counts as one answer: n/deff = C. `cell` and `cluster` are codes from 0. Null:
    `no_answers`; the interval of a share between 0 and 1 from a single cluster: `one_cluster`.

    Source: Kish 1965, ch. 5; Rao & Scott 1992; Wilson 1927.
    """
    yes = np.asarray(yes, dtype=float)
    width = int(cluster.max(initial=0)) + 1
    key, inverse = np.unique(cell.astype(np.int64) * width + cluster, return_inverse=True)
    own_cell = key // width
    n_cluster = np.bincount(inverse, minlength=len(key)).astype(float)
    k_cluster = np.bincount(inverse, weights=yes, minlength=len(key))

    def total(values: Array) -> Array:
        return np.bincount(own_cell, weights=values, minlength=cells)

    n, k, clusters = total(n_cluster), total(k_cluster), total(np.ones(len(key)))
    share = ratio(k, n)
    residual = k_cluster - n_cluster * share[own_cell]
    edge = (k == 0) | (k == n)
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = clusters / (clusters - 1) * total(residual**2) / n**2
        effect = np.maximum(1.0, variance / (share * (1 - share) / n))
        effect = np.where(edge, n / clusters, effect)
        low, high = wilson(share, n / effect)
    reason = np.full(cells, "", dtype=object)
    reason[(clusters == 1) & ~edge] = ONE_CLUSTER
    reason[n == 0] = NO_ANSWERS
    null = reason != ""
    effect, low, high = (np.where(null, np.nan, values) for values in (effect, low, high))
    return Rates(k, n, clusters, share, effect, low, high, reason)
