"""Sets of embeddings: checked once, compared through their means."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.validation import require_columns

UNNAMED = ""  # the model of a table without a column of that name


def unit_vectors(vectors: Any, rows: int, argument: str) -> tuple[Array, Array]:
    """`vectors` as a matrix of `rows` × dim, and the length of each vector: only directions count."""
    matrix = np.asarray(vectors)
    if matrix.ndim != 2 or len(matrix) != rows:
        raise ValueError(f"{argument}: expected {rows} rows of numbers, got an array of shape {matrix.shape}")
    if matrix.dtype.kind != "f" or matrix.dtype.itemsize < 4:
        matrix = matrix.astype(np.float32)
    length = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=matrix.dtype))
    wrong = ~np.isfinite(length) | (length == 0)
    if wrong.any():
        raise ValueError(
            f"{argument}: row {int(np.argmax(wrong))} has no direction (all zeros, or not a number)"
        )
    return matrix, length


def named_rows(table: Any, argument: str, columns: tuple[str, ...]) -> pd.DataFrame:
    """The columns as text, '' where empty; a table without `model` has one unnamed model."""
    frame = require_columns(table, argument, columns)
    if "model" not in frame:
        frame = frame.assign(model=UNNAMED)
    return pd.DataFrame({column: as_text(frame[column]) for column in ("model", *columns)})


def as_text(column: pd.Series) -> Array:
    """Names as text, the empty name for null."""
    codes, names = pd.factorize(column, use_na_sentinel=True)
    return np.append(np.array([str(name) for name in names], dtype=object), "")[codes]


def mean_similarity(x: Any, y: Any = None) -> float | None:
    """S(X, Y): mean cosine over pairs x ∈ X, y ∈ Y; within one set over pairs of different members.

    `x`, `y`: n × dim and m × dim; vectors may have any length. S(X, Y) = mean(X)·mean(Y) with unit vectors, and
    S(X, X) = (n·|mean(X)|² − 1)/(n − 1), so pairs are never formed: O(n·dim). None if there is no pair.
    Raises ValueError for a vector without direction. Jha et al. 2024.

    >>> mean_similarity([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0]])
    0.5
    >>> mean_similarity([[1.0, 0.0], [0.0, 1.0]])
    0.0
    """
    mean_x = _mean_direction(x, "x")
    if y is not None:
        mean_y = _mean_direction(y, "y")
        return None if mean_x is None or mean_y is None else float(mean_x @ mean_y)
    number = len(np.asarray(x))
    if mean_x is None or number < 2:
        return None
    return float((number * (mean_x @ mean_x) - 1) / (number - 1))


def _mean_direction(vectors: Any, argument: str) -> Array | None:
    rows = np.asarray(vectors, dtype=float)
    if not len(rows):
        return None
    matrix, length = unit_vectors(rows, len(rows), argument)
    mean: Array = (matrix / length[:, None]).mean(axis=0)
    return mean
