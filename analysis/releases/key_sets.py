"""Sets of database keys as bits: which annotations, annotators and images a release held."""

import zlib

import numpy as np
from numpy.typing import NDArray


def pack(flags: NDArray[np.bool_]) -> bytes:
    """Return the stored flags of a set of keys."""
    return zlib.compress(np.packbits(flags, bitorder="little").tobytes(), 6)


def unpack(stored: bytes) -> NDArray[np.bool_]:
    """Return a flag for each key."""
    octets = np.frombuffer(zlib.decompress(bytes(stored)), dtype=np.uint8)
    return np.unpackbits(octets, bitorder="little").astype(bool)


class KeySet:
    """A growing set of keys: a byte for every key up to the largest, a bit where it is stored."""

    def __init__(self) -> None:
        self.flags = np.zeros(1, dtype=bool)

    def add(self, keys: NDArray[np.int64]) -> None:
        """Add keys; −1 means no key."""
        keys = keys[keys >= 0]
        if not len(keys):
            return
        if int(keys.max()) >= len(self.flags):
            longer = np.zeros(max(int(keys.max()) + 1, 2 * len(self.flags)), dtype=bool)
            longer[: len(self.flags)] = self.flags
            self.flags = longer
        self.flags[keys] = True

    def keys(self) -> NDArray[np.int64]:
        """Return the keys in order."""
        return np.flatnonzero(self.flags)


def set_difference(keys: NDArray[np.bool_], excluded: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the keys that are set in `keys` and not in `excluded`."""
    length = min(len(keys), len(excluded))
    remaining = keys.copy()
    remaining[:length] &= ~excluded[:length]
    return np.flatnonzero(remaining)
