"""The type of arrays, division that gives NaN for a denominator of 0, and pairs of positions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def ratio(above: Any, below: Any) -> Array:
    """`above` / `below`, broadcast; NaN if `below` is not positive."""
    shape = np.broadcast_shapes(np.shape(above), np.shape(below))
    quotient: Array = np.divide(above, below, out=np.full(shape, np.nan), where=np.asarray(below) > 0)
    return quotient


def pairs_within(group: Array) -> tuple[Array, Array]:
    """All pairs i < j of positions in the same group; `group` is sorted."""
    size = np.bincount(group, minlength=1)
    start = np.cumsum(size) - size
    later = (start + size)[group] - np.arange(len(group)) - 1
    i = np.repeat(np.arange(len(group)), later)
    j = np.arange(len(i)) - np.repeat(np.cumsum(later) - later, later) + i + 1
    return i, j
