"""The storage format of vectors: little-endian, of unit length. Reading them needs no model library.

float32 keeps the encoder's output. float16 takes half the bytes and changes a cosine by up to 2e-4.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from analysis.metrics.data.arrays import Array
from analysis.models.vector_types import FLOAT16, FLOAT32

_STORED: dict[str, np.dtype[Any]] = {FLOAT32: np.dtype("<f4"), FLOAT16: np.dtype("<f2")}


def unit(vectors: Array) -> Array:
    """Return rows scaled to length one, as float32; a row of zeros stays zero."""
    rows = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0))


def usable(vectors: Array) -> Array:
    """Return a boolean per row: whether all its numbers are finite and not all are zero."""
    rows = np.asarray(vectors)
    has_direction: Array = np.isfinite(rows).all(axis=1) & rows.any(axis=1)
    return has_direction


def packed(vectors: Array, vector_type: str = FLOAT32) -> list[bytes]:
    """Return the stored bytes of each row; ValueError if a row is not finite or all zeros."""
    if not usable(vectors).all():
        raise ValueError("vectors: a row is not finite, or all zeros")
    return [row.tobytes() for row in unit(vectors).astype(_STORED[vector_type])]


def unpacked(stored: Sequence[bytes | memoryview], dim: int, vector_type: str = FLOAT32) -> Array:
    """Return stored vectors as float32 rows, scaled to unit length again after rounding to float16."""
    joined = b"".join(bytes(vector) for vector in stored)
    rows = np.frombuffer(joined, dtype=_STORED[vector_type]).reshape(len(stored), dim)
    return unit(rows)


def text_key(text: str) -> str:
    """Return the key under which the vector of a text is stored."""
    return hashlib.sha256(text.encode()).hexdigest()
