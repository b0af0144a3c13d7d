"""Names and ids of a release by database key, and facts about images."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class KeyNames:
    """Strings by key; −1 (null) and unknown keys are null."""

    keys: NDArray[np.int64]  # sorted
    names: pa.Array

    @classmethod
    def of(cls, keys: Sequence[int] | NDArray[np.int64], names: Sequence[str | None]) -> "KeyNames":
        key_array = np.asarray(keys, dtype=np.int64)
        order = np.argsort(key_array, kind="stable")
        return cls(key_array[order], pa.array(names, pa.string()).take(pa.array(order)))

    def places(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the index of each key, −1 if there is none."""
        if not len(self.keys):
            return np.full(len(keys), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, at, -1)

    def of_keys(self, keys: NDArray[np.int64]) -> pa.DictionaryArray:
        """Return the names of keys, with only the names that occur as dictionary."""
        return encoded(self.places(keys), self.names)


def encoded(codes: NDArray[np.int64], names: pa.Array) -> pa.DictionaryArray:
    """Return names by code as a dictionary array; negative codes are null. Names must differ from each other.

    Parquet's writer uses the dictionary unchanged. A name that occurs twice would make its bytes vary.
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
    """Every released image by key: its id, and codes of its contents. About seventy bytes per image."""

    ids: KeyNames
    model: NDArray[np.int64]
    condition: NDArray[np.int64]
    group: NDArray[np.int64]  # index into `groups`, −1 for none
    width: NDArray[np.int64]  # 0 if unknown
    height: NDArray[np.int64]
    models: pa.Array
    conditions: pa.Array
    groups: pa.Array
    regions: pa.Array
    region_of_group: NDArray[np.int64]  # index into `regions`, −1 if unknown

    def columns(self, keys: NDArray[np.int64]) -> dict[str, pa.DictionaryArray]:
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

    def group_of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the code of each image's group, −1 for none."""
        place = self.ids.places(keys)
        return np.where(place < 0, -1, _at(self.group, place))


def _at(values: NDArray[np.int64], place: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return values at places; the caller discards values at −1."""
    return values[place] if len(values) else np.full(len(place), -1, dtype=np.int64)
