"""Vectors as they are stored: little-endian rows of unit length. No model library is needed to read them.

float32 keeps what the encoder computed. float16 takes half the bytes and moves a cosine by up to 2e-4.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from analysis.metrics.data.arrays import Array
from analysis.models.vector_types import FLOAT16, FLOAT32

_STORED: dict[str, np.dtype[Any]] = {FLOAT32: np.dtype("<f4"), FLOAT16: np.dtype("<f2")}


def unit(vectors: Array) -> Array:
    """Return rows scaled to length one, as float32; a row of zeros stays one."""
    rows = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0))


def usable(vectors: Array) -> Array:
    """Return which rows have a direction: every number finite, and not all of them zero."""
    rows = np.asarray(vectors)
    has_direction: Array = np.isfinite(rows).all(axis=1) & rows.any(axis=1)
    return has_direction


def packed(vectors: Array, vector_type: str = FLOAT32) -> list[bytes]:
    """Return each row as it is stored; ValueError where one has no direction."""
    if not usable(vectors).all():
        raise ValueError("vectors: a row is not finite, or all zeros")
    return [row.tobytes() for row in unit(vectors).astype(_STORED[vector_type])]


def unpacked(stored: Sequence[bytes | memoryview], dim: int, vector_type: str = FLOAT32) -> Array:
    """Return stored vectors as float32 rows of unit length: rounding to float16 is undone in length only."""
    joined = b"".join(bytes(vector) for vector in stored)
    rows = np.frombuffer(joined, dtype=_STORED[vector_type]).reshape(len(stored), dim)
    return unit(rows)


def text_key(text: str) -> str:
    """Return under which key the vector of a text is kept."""
    return hashlib.sha256(text.encode()).hexdigest()
