"""The type of arrays, division that leaves NaN where there is nothing to divide by, and pairs of positions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def ratio(above: Any, below: Any) -> Array:
    """`above` / `below`, broadcast; NaN where `below` is not above 0."""
    shape = np.broadcast_shapes(np.shape(above), np.shape(below))
    quotient: Array = np.divide(above, below, out=np.full(shape, np.nan), where=np.asarray(below) > 0)
    return quotient


def pairs_within(group: Array) -> tuple[Array, Array]:
    """All pairs i < j of positions of the same group; `group` is sorted."""
    size = np.bincount(group, minlength=1)
    start = np.cumsum(size) - size
    later = (start + size)[group] - np.arange(len(group)) - 1
    i = np.repeat(np.arange(len(group)), later)
    j = np.arange(len(i)) - np.repeat(np.cumsum(later) - later, later) + i + 1
    return i, j
