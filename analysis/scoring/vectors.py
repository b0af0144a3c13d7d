"""Vectors as they are stored: float16, little-endian, of unit length. No model library is needed to read them."""

import hashlib
from collections.abc import Sequence

import numpy as np

_STORED = np.dtype("<f2")


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return rows scaled to length one, as float32; a row of zeros stays one."""
    rows = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def packed(vectors: np.ndarray) -> list[bytes]:
    """Return each row as it is stored."""
    return [row.tobytes() for row in unit(vectors).astype(_STORED)]


def unpacked(stored: Sequence[bytes | memoryview], dim: int) -> np.ndarray:
    """Return stored vectors as float32 rows of unit length: rounding to float16 is undone in length only."""
    joined = b"".join(bytes(one) for one in stored)
    rows = np.frombuffer(joined, dtype=_STORED).reshape(len(stored), dim)
    return unit(rows)


def text_key(text: str) -> str:
    """Return under which key the vector of a text is kept."""
    return hashlib.sha256(text.encode()).hexdigest()
