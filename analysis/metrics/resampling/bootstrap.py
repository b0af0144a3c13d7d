"""The pigeonhole bootstrap: crossed resampling of images and annotators, on sufficient statistics."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from analysis.metrics.data.annotator_ids import AnnotatorIds, annotator_ids_usable
from analysis.metrics.data.arrays import Array
from analysis.metrics.data.judgements import Judgements
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.validation import require_choice, require_whole
from analysis.metrics.resampling.intervals import SPARSE_SHARE, percentile_intervals

DEFAULT_RESAMPLES = 2_000
DRAWN_AT_ONCE = 200_000  # numbers: few enough for the processor's cache
MOST_AT_ONCE = 2_000_000  # in a larger stratum: limits the temporary memory of drawing weights
HELD_AT_ONCE = 4_000_000  # numbers in one working array of a block
KEPT = 24_000_000  # per-cell sums kept for the next measure; if there are more, they are computed again
IMAGES_AND_ANNOTATORS = "pigeonhole bootstrap of images and annotators"
IMAGES_ONLY = "bootstrap of images"
_ANNOTATORS, _IMAGES = 0, 1  # streams of one seed


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive cells, whole (model, group)s together, with their resampled sums (cells × resamples)."""

    cells: slice
    n_shown: Array
    n_marked: Array

    def likelihood(self) -> Array:
        """L per cell and resample; NaN if the cell has no weight."""
        n_shown = self.n_shown.astype(float)
        n_shown[n_shown == 0] = np.nan
        return np.asarray(self.n_marked / n_shown)


@dataclass(frozen=True, eq=False)
class Resampling:
    """Resample weights, and the sums that measures derive from them.

    To compute θ, O and L in the same resamples, make one `Resampling` with `pigeonhole_bootstrap` and pass it to each
    measure as `resampling=`.
    """

    judgements: Judgements
    resamples: int
    seed: int
    annotator_ids: AnnotatorIds
    annotators_resampled: bool

    @property
    def method(self) -> str:
        return IMAGES_AND_ANNOTATORS if self.annotators_resampled else IMAGES_ONLY

    @cached_property
    def image_weights(self) -> Array:
        """How often each image is drawn (images × resamples), drawn within its stratum."""
        return multinomial_weights(
            np.bincount(self.judgements.image_stratum), self.resamples, (self.seed, _IMAGES)
        )

    @cached_property
    def annotator_weights(self) -> Array:
        """How often each annotator is drawn, once for all groups (annotators × resamples)."""
        return multinomial_weights(
            [len(self.judgements.annotator_names)], self.resamples, (self.seed, _ANNOTATORS)
        )

    def blocks(self) -> Iterator[Block]:
        if len(self.judgements.cell_group) * self.resamples * 2 <= KEPT:
            yield from self._kept_blocks
        else:
            yield from self._computed_blocks()

    @cached_property
    def _kept_blocks(self) -> list[Block]:
        return list(self._computed_blocks())

    def _computed_blocks(self) -> Iterator[Block]:
        data = self.judgements
        if not len(data.cell_block):
            return
        at_most = max(HELD_AT_ONCE // self.resamples, 1)
        edges = np.append(np.flatnonzero(np.diff(data.cell_block, prepend=-1)), len(data.cell_block))
        start = 0
        for stop, after in zip(edges[1:], np.append(edges[2:], -1), strict=True):
            units_if_grown = data.cell_first_unit[after] - data.cell_first_unit[start] if after >= 0 else None
            if units_if_grown is None or units_if_grown > at_most:
                yield self._block(start, int(stop))
                start = int(stop)

    def _block(self, start: int, stop: int) -> Block:
        data = self.judgements
        units = slice(data.cell_first_unit[start], data.cell_first_unit[stop])
        if self.annotators_resampled:
            n_shown, marked = self._crossed_sums(start, stop)
        else:
            lowest, highest = data.unit_image[units].min(), data.unit_image[units].max()
            weights = self.image_weights[lowest : highest + 1].astype(np.float32)
            ends = data.cell_first_unit[start : stop + 1] - units.start
            columns = data.unit_image[units] - lowest
            shape = (stop - start, len(weights))
            n_shown, marked = (
                csr_array((per_unit[units].astype(np.float32), columns, ends), shape=shape) @ weights
                for per_unit in (data.unit_shown, data.unit_marked)
            )
        return Block(slice(start, stop), n_shown, marked)

    def _crossed_sums(self, start: int, stop: int) -> tuple[Array, Array]:
        """Σ w(image)·w(annotator) over the judgements of each cell: a sparse product per unit, then a sum per
        cell."""
        data = self.judgements
        n_shown = np.zeros((stop - start, self.resamples), dtype=np.float32)
        n_marked = np.zeros_like(n_shown)
        at_most = max(HELD_AT_ONCE // self.resamples, 1)
        first_unit, last_unit = data.cell_first_unit[start], data.cell_first_unit[stop]
        annotator_weights = self._annotator_weights_as_float
        for begin in range(first_unit, last_unit, at_most):
            end = min(begin + at_most, last_unit)
            rows = slice(self._ends[0][begin], self._ends[0][end])
            image_weights = self.image_weights[data.unit_image[begin:end]]
            cell_ends = np.searchsorted(data.unit_cell[begin:end] - start, np.arange(stop - start + 1))
            gather = csr_array(
                (np.ones(end - begin, dtype=np.float32), np.arange(end - begin), cell_ends),
                shape=(stop - start, end - begin),
            )
            annotators = data.row_annotator[rows]
            for sums, who, unit_ends in (
                (n_shown, annotators, self._ends[0]),
                (n_marked, annotators[data.row_present[rows]], self._ends[1]),
            ):
                incidence = csr_array(
                    (np.ones(len(who), dtype=np.float32), who, unit_ends[begin : end + 1] - unit_ends[begin]),
                    shape=(end - begin, len(annotator_weights)),
                )
                weighted = incidence @ annotator_weights
                weighted *= image_weights
                sums += gather @ weighted
        return n_shown, n_marked

    @cached_property
    def _ends(self) -> tuple[Array, Array]:
        """The end of each unit's rows among all rows and among the marked rows, preceded by a 0."""
        data = self.judgements
        n_shown, n_marked = (
            np.append(0, np.cumsum(number)) for number in (data.unit_shown, data.unit_marked)
        )
        return n_shown, n_marked

    @cached_property
    def _annotator_weights_as_float(self) -> Array:
        return self.annotator_weights.astype(np.float32)

    @cached_property
    def sparse_share(self) -> Array:
        """Per cell, the share of resamples in which it has no weight."""
        return np.concatenate([(block.n_shown == 0).mean(axis=1) for block in self.blocks()] or [np.empty(0)])

    def to_frame(self) -> pd.DataFrame:
        """Per cell: estimate, percentile interval and the share of resamples without weight."""
        return self.summary().to_frame()

    def summary(self) -> Result:
        data = self.judgements
        parts = [
            percentile_intervals(block.likelihood(), sparse=self.sparse_share[block.cells])
            for block in self.blocks()
        ]
        low, high, reason = (
            np.concatenate([getattr(part, name) for part in parts] or [np.empty(0)])
            for name in ("low", "high", "reason")
        )
        table = pd.DataFrame(
            {
                "model": labels(data.model_names[data.cell_model]),
                "identity_group": labels(data.group_names[data.cell_group]),
                "attribute": labels(data.cell_attribute_names()),
                "shown": counts(data.cell_shown),
                "marked": counts(data.cell_marked),
                "estimate": numbers(data.cell_marked / data.cell_shown),
                "ci_low": numbers(low),
                "ci_high": numbers(high),
                "resamples_without_weight": numbers(self.sparse_share),
                "reason": words(reason),
            }
        )
        return Result(
            table=table,
            used=len(data.rows),
            method=self.method,
            seed=self.seed,
            resamples=self.resamples,
            notes={"sparse_share_allowed": SPARSE_SHARE, "annotator_ids": self.annotator_ids.reason},
        )


def pigeonhole_bootstrap(
    judgements: Any,
    *,
    none_rows: pd.DataFrame | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    annotators: str = "auto",
) -> Resampling:
    """Resample images and annotators of a table of judgements (Owen 2007, *The pigeonhole bootstrap*).

    Images are drawn with replacement within their group (an image judged for several models is drawn once for all of
    them), annotators once for all groups; a judgement weighs the product w(image)·w(annotator). `annotators="auto"`
    resamples annotators when `annotator_ids_usable` and there are at least two; "ignore" resamples images only.
    Deterministic given `seed`, and independent of the order of rows. The result's `to_frame()` gives each cell's
    percentile interval.
    """
    resamples = require_whole(resamples, "resamples", 1)
    seed = require_whole(seed, "seed", 0)
    require_choice(annotators, "annotators", ("auto", "ignore"))
    data = Judgements.of(judgements, none_rows=none_rows)
    ids = annotator_ids_usable(data)
    crossed = annotators == "auto" and ids.usable and len(data.annotator_names) > 1
    return Resampling(data, resamples, seed, ids, crossed)


def resampling_of(
    judgements: Any, resampling: Resampling | None, none_rows: pd.DataFrame | None, resamples: int, seed: int
) -> Resampling:
    """The given resampling, or a new one."""
    if resampling is None:
        return pigeonhole_bootstrap(judgements, none_rows=none_rows, resamples=resamples, seed=seed)
    data = resampling.judgements
    rows = (
        len(data.rows)
        if isinstance(judgements, Judgements)
        else int(data.cell_shown[~data.cell_is_none].sum())
    )
    size = len(judgements.rows) if isinstance(judgements, Judgements) else len(judgements)
    if size != rows:
        raise ValueError(f"resampling: was made from {rows} judgements, got {size}")
    return resampling


def multinomial_weights(sizes: Any, resamples: int, key: tuple[int, int]) -> Array:
    """Draw each stratum with replacement, keeping its size: how often each member is drawn (members ×
    resamples).

    `sizes` are the sizes of consecutive strata. uint8 suffices: the expected number of draws of a member is 1, and more
    than 255 draws of one member are practically impossible.
    """
    sizes = np.asarray(sizes)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    size = np.repeat(sizes, sizes)
    weights = np.zeros((len(size), resamples), dtype=np.uint8)
    generator = np.random.default_rng(np.random.SeedSequence(key[0], spawn_key=(key[1],)))
    for part in _parts(sizes, max(DRAWN_AT_ONCE // max(resamples, 1), 1)):
        batch = max(MOST_AT_ONCE // (part.stop - part.start), 1)
        for begin in range(0, resamples, batch):
            width = min(batch, resamples - begin)
            drawn = generator.random((part.stop - part.start, width))
            drawn *= size[part, None]
            places = drawn.astype(np.int64)
            places += starts[part, None] - part.start
            places *= width
            places += np.arange(width)
            times = np.bincount(places.ravel(), minlength=places.size)
            weights[part, begin : begin + width] = times.reshape(places.shape)
    return weights


def _parts(sizes: Array, members: int) -> Iterator[slice]:
    """Divide the members into parts of whole strata, with a limited number of members each."""
    ends = np.cumsum(sizes)
    start = 0
    while start < (ends[-1] if len(ends) else 0):
        stop = int(ends[np.searchsorted(ends, min(start + members, ends[-1]))])
        yield slice(start, stop)
        start = stop
