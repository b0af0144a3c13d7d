"""Sets of database keys as bits: which annotations, annotators and images a release held."""

import zlib

import numpy as np


def packed(bits: np.ndarray) -> bytes:
    """Return which keys are set, as stored."""
    return zlib.compress(np.packbits(bits, bitorder="little").tobytes(), 6)


def unpacked(stored: bytes) -> np.ndarray:
    """Return a flag for each key."""
    packed = np.frombuffer(zlib.decompress(bytes(stored)), dtype=np.uint8)
    return np.unpackbits(packed, bitorder="little").astype(bool)


class Bits:
    """A set of keys that grows: a byte for every key up to the largest, an eighth of one where it is stored."""

    def __init__(self) -> None:
        self.flags = np.zeros(1, dtype=bool)

    def add(self, keys: np.ndarray) -> None:
        """Add keys; −1 stands for none."""
        keys = keys[keys >= 0]
        if not len(keys):
            return
        if int(keys.max()) >= len(self.flags):
            longer = np.zeros(max(int(keys.max()) + 1, 2 * len(self.flags)), dtype=bool)
            longer[: len(self.flags)] = self.flags
            self.flags = longer
        self.flags[keys] = True

    def keys(self) -> np.ndarray:
        """Return the keys in order."""
        return np.flatnonzero(self.flags)


def without(these: np.ndarray, those: np.ndarray) -> np.ndarray:
    """Return the keys that are set in `these` and not in `those`."""
    length = min(len(these), len(those))
    left = these.copy()
    left[:length] &= ~those[:length]
    return np.flatnonzero(left)
