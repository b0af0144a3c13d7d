"""The ratings of each annotator, and an agreement measure without each annotator, each image and each cell."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.judgements import dense
from analysis.metrics.resampling.intervals import Intervals
from analysis.metrics.resampling.jackknife import LeftOut, jackknife_intervals

VALUES_AT_ONCE = 1_000_000  # cells; limits the memory for their sums


@dataclass(frozen=True, eq=False)
class Answers:
    """Ratings by unit and annotator: one row for all ratings of a unit by one annotator.

    `patterns[kind[j]]` counts the ratings of row j in each category.
    """

    unit: Array
    annotator: Array
    annotators: int
    kind: Array
    patterns: Array

    @classmethod
    def of(cls, unit: Array, annotator: Array, annotators: int, category: Array, q: int) -> "Answers":
        """Build the answers from single ratings, sorted by unit and then annotator."""
        begins = np.ones(len(unit), dtype=bool)
        begins[1:] = (unit[1:] != unit[:-1]) | (annotator[1:] != annotator[:-1])
        starts = np.flatnonzero(begins)
        if len(starts) == len(unit):
            return cls(unit, annotator, annotators, category, np.eye(q, dtype=int))
        row = np.cumsum(begins) - 1
        counts = np.bincount(row * q + category, minlength=len(starts) * q).reshape(len(starts), q)
        patterns, kind = np.unique(counts, axis=0, return_inverse=True)
        return cls(unit[starts], annotator[starts], annotators, kind.ravel(), patterns)


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """A measure of each scope (a function of sums of per-unit features) with some answers left out.

    `pattern` is each unit's row of `patterns` (distinct counts), `sums` the features' sums (f × scopes).
    """

    features: Callable[[Array], Array]
    value: Callable[[Array], Array]
    scope: Array
    sums: Array
    cluster: Array
    stratum: Array
    pattern: Array
    patterns: Array
    answers: Answers

    def intervals(self, estimate: Array, bounds: tuple[float, float]) -> Intervals:
        """Intervals of the estimate of each scope, over annotators and clusters."""
        return jackknife_intervals(
            estimate,
            annotators=self.annotators(),
            images=self.images(),
            chance=self.chance(),
            bounds=bounds,
        )

    def images(self) -> LeftOut:
        """The measure without each image, for each scope that contains the image."""
        place, rows, clusters = self._pairs
        features = self.features(self.patterns.astype(float))
        sums = self.sums[:, rows]
        for kind, column in enumerate(features.T):
            sums[kind] -= np.bincount(place, weights=column[self.pattern], minlength=len(rows))
        return LeftOut(rows, self.value(sums), self.stratum[clusters])

    def annotators(self) -> LeftOut:
        """The measure without each annotator who rated a unit of the scope that others rated too."""
        answers = self.answers
        shared = (self.patterns.sum(axis=1) >= 2)[self.pattern[answers.unit]]
        key = self.scope[answers.unit].astype(np.int64) * answers.annotators + answers.annotator
        place, keys = dense(key, self.sums.shape[1] * answers.annotators)
        counted = np.bincount(place[shared], minlength=len(keys)) > 0
        rows = keys // answers.annotators
        sums = self.sums[:, rows] + self._changes(place, slice(None), len(keys))
        return LeftOut(rows[counted], self.value(sums[:, counted]))

    def chance(self) -> Array:
        """Per scope, Σ(θ without one annotator's answers about one image − θ)²."""
        width = self.sums.shape[1]
        whole = self.value(self.sums)
        _, change = self._without
        place, rows, _ = self._pairs
        if len(rows) == len(self.scope):  # an image has one unit in each scope: equal answers, equal effects
            key = self.scope[self.answers.unit].astype(np.int64) * len(change) + self._combination
            times = np.bincount(key, minlength=width * len(change)).reshape(width, len(change))
            moved = self.value(self.sums[:, :, None] + change.T[:, None, :]) - whole[:, None]
            return np.asarray((times * np.nan_to_num(moved) ** 2).sum(axis=1))
        key = place[self.answers.unit].astype(np.int64) * self.answers.annotators + self.answers.annotator
        order = np.argsort(key, kind="stable")
        ends = np.flatnonzero(np.diff(key[order], append=-1)) + 1
        total = np.zeros(width)
        start = 0
        for begin in range(0, len(ends), VALUES_AT_ONCE):
            part = ends[begin : begin + VALUES_AT_ONCE]
            answer_rows = order[start : part[-1]]
            cell = np.repeat(np.arange(len(part)), np.diff(part, prepend=start))
            row = self.scope[self.answers.unit[order[part - 1]]]
            moved = self.value(self.sums[:, row] + self._changes(cell, answer_rows, len(part))) - whole[row]
            total += np.bincount(row, weights=np.nan_to_num(moved) ** 2, minlength=width)
            start = part[-1]
        return total

    @cached_property
    def _pairs(self) -> tuple[Array, Array, Array]:
        """The (scope, cluster) code of each unit, and the scope and the cluster of each code."""
        clusters = len(self.stratum)
        key = self.scope.astype(np.int64) * clusters + self.cluster
        place, keys = dense(key, self.sums.shape[1] * clusters)
        return place, keys // clusters, keys % clusters

    @cached_property
    def _without(self) -> tuple[Array, Array]:
        """Codes of the (pattern, kind of answer) pairs that occur, and how the unit's features change without the
        answer."""
        kinds = len(self.answers.patterns)
        key = self.pattern[self.answers.unit].astype(np.int64) * kinds + self.answers.kind
        code, keys = dense(key, len(self.patterns) * kinds)
        before = self.patterns[keys // kinds]
        after = before - self.answers.patterns[keys % kinds]
        return code, self.features(after.astype(float)) - self.features(before.astype(float))

    @property
    def _combination(self) -> Array:
        return self._without[0]

    def _changes(self, place: Array, rows: Array | slice, number: int) -> Array:
        """Summed change of each feature (f × number) when the answers at `rows` are left out, by `place`."""
        code, change = self._without
        codes = code[rows]
        return np.stack([np.bincount(place, weights=column[codes], minlength=number) for column in change.T])
