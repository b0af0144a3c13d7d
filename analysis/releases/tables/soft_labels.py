"""Aggregated answers of annotators: shares and the majority.

Answers are written to temporary files as they are read, one file for each range of images, and counted range by range.
Sorting all of them at once would take memory that grows with their number.
"""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from analysis.releases.tables.label_columns import Naming
from analysis.releases.tables.label_pages import Page
from analysis.releases.tables.lookups import encoded
from annotation.kinds.registry import kind_of

RATINGS = (1, 2, 3, 4, 5)
_ANNOTATIONS_AT_ONCE = 16_384  # expected in a range
_MOST_RANGES = 512  # each is an open file
_AT_ONCE = 16_384
_KINDS = pa.array(["presence", "rating"], pa.string())
_ANSWER = np.dtype([("image", "<i4"), ("attribute", "<i4"), ("present", "<i4")])


class SoftLabels:
    """Adds answers up. `annotations`: about how many there will be."""

    def __init__(self, folder: Path, naming: Naming, *, annotations: int) -> None:
        self._naming = naming
        self._images = len(naming.images.ids.keys)
        self._ranges = min(1 + annotations // _ANNOTATIONS_AT_ONCE, _MOST_RANGES)
        self._open = ExitStack()
        opened = (tempfile.TemporaryFile(dir=folder) for _ in range(self._ranges))  # noqa: SIM115
        self._files = [self._open.enter_context(file) for file in opened]
        self._ratings = np.zeros((len(naming.attributes.keys), len(RATINGS)), dtype=np.int64)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def add(self, page: Page) -> None:
        """Add the answers of a page."""
        answers = page.judgements
        attribute = self._naming.attributes.places(answers["attribute"])
        if kind_of(page.campaign).rates_attributes:
            np.add.at(self._ratings, (attribute, answers["value"] - RATINGS[0]), 1)
            return
        place = self._naming.images.ids.places(page.annotations["task__image"])[answers["owner"]]
        answered = np.empty(len(place), dtype=_ANSWER)
        answered["image"], answered["attribute"], answered["present"] = place, attribute, answers["value"]
        within = place * self._ranges // max(self._images, 1)
        rows = answered[np.argsort(within, kind="stable")]
        ends = np.cumsum(np.bincount(within[within >= 0], minlength=self._ranges))
        begin = int((within < 0).sum())  # an image that is not released has no number
        for file, start, end in zip(self._files, [0, *ends[:-1]], ends, strict=True):
            file.write(rows[begin + start : begin + end].tobytes())

    def pages(self) -> Iterator[dict[str, Any]]:
        """Yield rows of `soft_labels`: images × attributes, then rated attributes."""
        for file in self._files:
            file.seek(0)
            image, attribute, n, k = _counted(np.frombuffer(file.read(), dtype=_ANSWER))
            for start in range(0, len(n), _AT_ONCE):
                page = slice(start, start + _AT_ONCE)
                yield self._presence(image[page], attribute[page], n[page], k[page])
        rated = np.flatnonzero(self._ratings.sum(axis=1))
        for start in range(0, len(rated), _AT_ONCE):
            yield self._rating(rated[start : start + _AT_ONCE])

    def _presence(
        self,
        image: NDArray[np.int64],
        attribute: NDArray[np.int64],
        n: NDArray[np.int64],
        k: NDArray[np.int64],
    ) -> dict[str, Any]:
        return {
            **self._shared(0, attribute, n),
            "image": encoded(image, self._naming.images.ids.names),
            "k": pa.array(k),
            "share": pa.array(k / n),
            **{f"share_{value}": pa.nulls(len(n), pa.float64()) for value in RATINGS},
            "majority": pa.array(2 * k > n, mask=2 * k == n),
            "majority_rating": pa.nulls(len(n), pa.int64()),
        }

    def _rating(self, attribute: NDArray[np.int64]) -> dict[str, Any]:
        counts = self._ratings[attribute]
        n = counts.sum(axis=1)
        tied = (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) > 1
        return {
            **self._shared(1, attribute, n),
            "image": pa.nulls(len(n), pa.string()),
            "k": pa.nulls(len(n), pa.int64()),
            "share": pa.nulls(len(n), pa.float64()),
            **{f"share_{value}": pa.array(counts[:, index] / n) for index, value in enumerate(RATINGS)},
            "majority": pa.nulls(len(n), pa.bool_()),
            "majority_rating": pa.array(counts.argmax(axis=1) + RATINGS[0], mask=tied),
        }

    def _shared(self, kind: int, attribute: NDArray[np.int64], n: NDArray[np.int64]) -> dict[str, Any]:
        return {
            "kind": encoded(np.full(len(n), kind), _KINDS),
            "attribute": encoded(attribute, self._naming.attributes.names),
            "n": pa.array(n),
        }


def _counted(
    answers: NDArray[np.void],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return image, attribute, number of answers and number of yes for each pair, in order."""
    pair = (answers["image"].astype(np.int64) << 32) | answers["attribute"].astype(np.int64)
    pairs, of = np.unique(pair, return_inverse=True)
    n = np.bincount(of, minlength=len(pairs))
    k = np.bincount(of, weights=answers["present"], minlength=len(pairs)).astype(np.int64)
    return pairs >> 32, pairs & 0xFFFFFFFF, n, k
