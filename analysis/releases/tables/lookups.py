"""What keys of the database stand for in a release: names, ids, and what is known of images."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Names:
    """Strings by key; −1 (null) and unknown keys are null."""

    keys: np.ndarray  # sorted
    names: pa.Array

    @classmethod
    def of(cls, keys: Sequence[int] | np.ndarray, names: Sequence[str | None]) -> "Names":
        found = np.asarray(keys, dtype=np.int64)
        order = np.argsort(found, kind="stable")
        return cls(found[order], pa.array(names, pa.string()).take(pa.array(order)))

    def places(self, keys: np.ndarray) -> np.ndarray:
        """Return the index of each key, −1 where there is none."""
        if not len(self.keys):
            return np.full(len(keys), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, at, -1)

    def of_keys(self, keys: np.ndarray) -> pa.DictionaryArray:
        """Return the names of keys, with only the names that occur as dictionary."""
        return encoded(self.places(keys), self.names)


def encoded(codes: np.ndarray, names: pa.Array) -> pa.DictionaryArray:
    """Return names by code as a dictionary array; negative codes are null. Names must differ from each other.

    Parquet's writer takes the dictionary as it is, and bytes would come out at random if a name stood there twice.
    """
    marked = np.zeros(len(names) + 1, dtype=bool)
    marked[codes] = True  # −1 marks the place behind the last
    used = marked[:-1]
    chosen = np.flatnonzero(used)
    local = np.cumsum(used) - 1
    indices = pa.array(local[codes] if len(names) else codes, pa.int32(), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, names.take(pa.array(chosen)))


@dataclass(frozen=True, eq=False)
class ImageTable:
    """Every released image by key: its id, and codes of what it shows. About seventy bytes an image."""

    ids: Names
    model: np.ndarray
    condition: np.ndarray
    group: np.ndarray  # index into `groups`, −1 for none
    width: np.ndarray  # 0 where unknown
    height: np.ndarray
    models: pa.Array
    conditions: pa.Array
    groups: pa.Array
    regions: pa.Array
    region_of_group: np.ndarray  # index into `regions`, −1 where unknown

    def columns(self, keys: np.ndarray) -> dict[str, pa.DictionaryArray]:
        """Return image, model, condition, identity_group and region of each image."""
        place = self.ids.places(keys)
        group = np.where(place < 0, -1, _at(self.group, place))
        return {
            "model": encoded(np.where(place < 0, -1, _at(self.model, place)), self.models),
            "condition": encoded(np.where(place < 0, -1, _at(self.condition, place)), self.conditions),
            "identity_group": encoded(group, self.groups),
            "region": encoded(np.where(group < 0, -1, _at(self.region_of_group, group)), self.regions),
            "image": encoded(place, self.ids.names),
        }

    def group_of(self, keys: np.ndarray) -> np.ndarray:
        """Return the code of each image's group, −1 for none."""
        place = self.ids.places(keys)
        return np.where(place < 0, -1, _at(self.group, place))


def _at(values: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return values at places; what stands at −1 is thrown away by the caller."""
    return values[place] if len(values) else np.full(len(place), -1, dtype=np.int64)
