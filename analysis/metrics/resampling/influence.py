"""Intervals of smooth estimates over new prompts and new annotators, from the influence of every answer."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from analysis.metrics.resampling.intervals import Intervals
from analysis.metrics.resampling.jackknife import LeftOut, jackknife_intervals

HELD_AT_ONCE = 4_000_000  # numbers in one working array
METHOD = "two-way infinitesimal jackknife of prompts and annotators"


def influence_intervals(
    estimate: NDArray[np.float64],
    scores: csr_array,
    directions: NDArray[np.float64],
    *,
    prompt: NDArray[np.int64],
    annotator: NDArray[np.int64],
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Intervals:
    """Intervals of estimates whose influence is linear in a score of each answer.

    `scores` has one row per answer (answers × parameters, sparse); the influence of answer r on estimate e is scores[r]
    · directions[e]. An explicitly stored score of 0 means that the estimate uses the answer although the answer has no
    influence on it. `prompt` and `annotator` have one code from 0 per answer. The estimate without answer r is
    approximated (to first order) by the estimate minus the influence of r, and `jackknife_intervals` computes the
    interval: the variances of prompts and of annotators, minus their common part (answers of one annotator about one
    prompt), and a t quantile with Satterthwaite's degrees of freedom.

    Source: Efron 1982, *The jackknife, the bootstrap and other resampling plans*, ch. 6; Cameron, Gelbach &
    Miller 2011 for the two ways.
    """
    stored = csr_array((np.ones(scores.nnz), scores.indices, scores.indptr), shape=scores.shape)
    sides = [(_summed(scores, codes), _summed(stored, codes)) for codes in (annotator, prompt)]
    _, both = np.unique(prompt * (int(annotator.max(initial=0)) + 1) + annotator, return_inverse=True)
    crossed = _summed(scores, both)
    moments = (crossed.T @ crossed).toarray()
    parts = []
    for part in _parts(len(estimate), sum(summed.shape[0] for summed, _ in sides)):
        annotators, prompts = (
            _left_out(estimate[part], summed @ directions[part].T, touched @ abs(directions[part].T))
            for summed, touched in sides
        )
        intervals = jackknife_intervals(
            estimate[part],
            annotators=annotators,
            images=prompts,
            chance=np.einsum("ep,pq,eq->e", directions[part], moments, directions[part]),
            bounds=bounds,
        )
        parts.append(intervals)
    return Intervals(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("low", "high", "reason", "undefined")
        )
    )


def _summed(scores: csr_array, codes: NDArray[np.int64]) -> csr_array:
    """The sums of the rows of `scores` by code."""
    rows = np.arange(len(codes))
    members = coo_array(
        (np.ones(len(codes)), (codes, rows)), shape=(int(codes.max(initial=-1)) + 1, len(codes))
    )
    summed: csr_array = members.tocsr() @ scores
    return summed


def _left_out(estimate: NDArray[np.float64], influence: NDArray[Any], touched: NDArray[Any]) -> LeftOut:
    """Each estimate without each cluster of its answers (`touched`); arrays are clusters × estimates.

    Leaving out one of n clusters removes n/(n − 1) of its influence; for a mean this is exact.
    """
    row, cluster = np.nonzero(touched.T)
    clusters = np.bincount(row, minlength=len(estimate))
    share = clusters / np.maximum(clusters - 1, 1)
    return LeftOut(row=row, value=estimate[row] - share[row] * influence[cluster, row])


def _parts(estimates: int, clusters: int) -> Iterator[slice]:
    at_once = max(HELD_AT_ONCE // max(clusters, 1), 1)
    yield from (slice(begin, begin + at_once) for begin in range(0, max(estimates, 1), at_once))
