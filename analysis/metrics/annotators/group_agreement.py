"""How often people of two groups give the same answer about the same unit."""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

NO_SHARED_UNIT = "no_shared_unit"
Codes = NDArray[np.integer[Any]]


class CrossAgreement(NamedTuple):
    """Agreement of two groups, by their codes. `value` is NaN, with a `reason`, if they share no unit."""

    group_a: int
    group_b: int
    value: float
    units: int
    reason: str


def cross_agreement(unit: Codes, group: Codes, answer: Codes, *, groups: int) -> list[CrossAgreement]:
    """Return the agreement of each pair of `groups` groups: the mean over shared units of the share of equal pairs.

    Each element of the arrays is one answer: its unit, the group of its annotator and its value, as codes from 0. For a
    unit u with n answers in each group, the share is Σ n_a(x) n_b(x) / (n_a n_b) over the answers x.

    >>> unit, group, answer = np.array([0, 0, 0, 1]), np.array([0, 1, 1, 0]), np.array([2, 2, 5, 2])
    >>> cross_agreement(unit, group, answer, groups=2)
    [CrossAgreement(group_a=0, group_b=1, value=0.5, units=1, reason='')]
    """
    if not len(unit) == len(group) == len(answer):
        raise ValueError("unit, group and answer have different lengths")
    width = int(unit.max(initial=-1)) + 1
    pairs, cell = np.unique(np.stack([unit, answer]), axis=1, return_inverse=True)
    cell = cell.reshape(-1)  # in some versions of numpy it has the shape of the input
    given, alike = _counts(unit, group, groups, width), _counts(cell, group, groups, pairs.shape[1])
    return [
        _of_two(a, b, given, np.bincount(pairs[0], weights=alike[a] * alike[b], minlength=width))
        for a, b in combinations(range(groups), 2)
    ]


def _counts(codes: Codes, group: Codes, groups: int, width: int) -> Codes:
    counts = [np.bincount(codes[group == code], minlength=width) for code in range(groups)]
    return np.stack(counts) if counts else np.zeros((0, width), dtype=np.int64)


def _of_two(a: int, b: int, given: Codes, agreeing: NDArray[Any]) -> CrossAgreement:
    shared = (given[a] > 0) & (given[b] > 0)
    if not shared.any():
        return CrossAgreement(a, b, float("nan"), 0, NO_SHARED_UNIT)
    share = agreeing[shared] / (given[a] * given[b])[shared]
    return CrossAgreement(a, b, float(share.mean()), int(shared.sum()), "")
