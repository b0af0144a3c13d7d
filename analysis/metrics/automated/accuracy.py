"""How well scores separate positive units from others: plain functions of arrays, NaN where undefined."""

import numpy as np

from analysis.metrics.data.arrays import Array
from analysis.metrics.resampling.intervals import wilson


def average_precision(score: Array, positive: Array) -> float:
    """Σ (R_i − R_{i−1})·P_i over the distinct scores from the highest down; NaN with one class only."""
    if positive.all() or not positive.any():
        return np.nan
    _, hits, predicted = _cumulated(score, positive)
    recall = np.diff(hits, prepend=0) / hits[-1]
    return float((recall * hits / predicted).sum())


def area_under_roc(score: Array, positive: Array) -> float:
    """Share of pairs (positive, negative) in which the positive scores higher, ties a half; NaN with one class
    only."""
    from scipy.stats import rankdata  # half a second to import

    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    if not n_positive or not n_negative:
        return np.nan
    above = rankdata(score)[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(above / (n_positive * n_negative))


def spearman(x: Array, y: Array) -> float:
    """Correlation of ranks, tied values share their mean rank; NaN if one side is constant."""
    from scipy.stats import rankdata  # half a second to import

    if len(x) < 2:
        return np.nan
    ranks = [rankdata(values) - (len(x) + 1) / 2 for values in (x, y)]
    spread = np.sqrt((ranks[0] ** 2).sum() * (ranks[1] ** 2).sum())
    return float((ranks[0] * ranks[1]).sum() / spread) if spread > 0 else np.nan


def choose_threshold(score: Array, positive: Array, target: float) -> float:
    """The threshold (score ≥ threshold is positive) of the best F1 among those whose precision reaches `target`
    with the lower end of its Wilson interval; among all thresholds if none does. If several are equally good, the
    highest.

    The threshold is halfway to the next lower score that occurs. At least one unit must be positive.
    """
    values, hits, predicted = _cumulated(score, positive)
    f1 = 2 * hits / (predicted + hits[-1])
    reaches = wilson(hits / predicted, predicted)[0] >= target
    best = int(np.argmax(np.where(reaches, f1, -1.0) if reaches.any() else f1))
    if best == len(values) - 1:
        return float(values[best])
    between = (values[best] + values[best + 1]) / 2
    return float(between if between > values[best + 1] else values[best])


def _cumulated(score: Array, positive: Array) -> tuple[Array, Array, Array]:
    """The distinct scores from the highest down, with the numbers of positives and of all units at or above each."""
    order = np.argsort(-score, kind="stable")
    ordered = score[order]
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    return ordered[ends], np.cumsum(positive[order])[ends], ends + 1
