"""Random orders that belong to a seed: orders of keyed hashes, the same whatever the order of rows."""

import hashlib
from collections.abc import Iterable, Mapping


def keyed_hash(seed: int, *parts: str) -> str:
    """Return the hash of some text under a seed."""
    return hashlib.sha256("\x1f".join((str(seed), *parts)).encode()).hexdigest()


def shuffled(attributes: Iterable[int], texts: Mapping[int, str], seed: int, *key: str) -> list[int]:
    """Return `attributes` in the order that belongs to `seed` and `key`."""
    return sorted(attributes, key=lambda attribute: keyed_hash(seed, *key, texts[attribute]))
