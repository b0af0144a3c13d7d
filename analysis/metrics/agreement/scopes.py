"""Any agreement measure over units: its value in each scope, and its interval."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from analysis.metrics.agreement.leave_one_out import LeaveOneOut
from analysis.metrics.agreement.units import ALL, Units
from analysis.metrics.data.arrays import Array
from analysis.metrics.data.judgements import MARKED_AT_ONCE, dense
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.validation import require_choice, require_whole
from analysis.metrics.resampling.bootstrap import DEFAULT_RESAMPLES, Resampling, multinomial_weights
from analysis.metrics.resampling.intervals import Intervals, no_intervals, percentile_intervals

NO_PAIRS = "no_unit_rated_twice"
RESAMPLED_AT_ONCE = 4_000_000
_UNITS = 2  # stream of the seed, beside those of images and annotators


@dataclass(frozen=True)
class Measure:
    """A coefficient that is a function of sums of per-unit features.

    `features(counts)` → units × f; `value(sums)` maps sums (f × …) to the coefficient (…), NaN where it is undefined;
    `reason` states why. `bounds` are the smallest and the largest possible value. If a package computes the value of
    the whole scope, `point` does so, up to a maximum number of units.
    """

    name: str
    features: Callable[[Array], Array]
    value: Callable[[Array], Array]
    reason: str
    bounds: tuple[float, float] = (-1.0, 1.0)
    point: Callable[[Array], float] | None = None
    point_at_most: int = 0


@dataclass(frozen=True, eq=False)
class Scoped:
    """Units by scope: `pattern[u]` is the row of `patterns` (distinct counts of ratings) of unit u; `times[s, p]` is
    the number of units of scope s with pattern p."""

    units: Units
    scope: Array
    width: int
    pattern: Array
    patterns: Array
    times: Array

    @classmethod
    def of(cls, units: Units, scope: Array, width: int) -> "Scoped":
        pattern, patterns = _patterns(units.counts)
        alike = pattern if width == 1 else scope.astype(np.int64) * len(patterns) + pattern
        times = np.bincount(alike, minlength=width * len(patterns)).reshape(width, len(patterns))
        return cls(units, scope, width, pattern, patterns, times)


def agreement(
    units: Units,
    measure: Measure,
    *,
    by: str = ALL,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    resampling: Resampling | None = None,
) -> Result:
    """The measure in each scope (per model: everything, or each identity group or attribute), with its interval: the
    jackknife of annotators and clusters if ids identify people, otherwise the bootstrap of clusters. Without resamples
    there is no interval."""
    require_choice(by, "by", tuple(units.scopes))
    resamples = require_whole(resamples, "resamples", 0)
    seed = require_whole(seed, "seed", 0)
    if resampling is not None:
        resamples, seed = resampling.resamples, resampling.seed
    scope, names, models = _scoped(units, by)
    data = Scoped.of(units, scope, len(names))
    value = _values(data, measure)
    number = data.patterns.sum(axis=1)
    paired = data.times @ (number >= 2)
    reason = np.where(np.isnan(value), np.where(paired == 0, NO_PAIRS, measure.reason), "").astype(object)
    interval, resampled = _interval(data, measure, value, resamples, seed, resampling)
    people = units.annotators(scope, data.width)
    table = pd.DataFrame(
        {
            "model": labels(models),
            "scope": labels([by] * data.width),
            "scope_value": labels(names),
            "measure": labels([measure.name] * data.width),
            "value": numbers(value),
            "ci_low": numbers(interval.low),
            "ci_high": numbers(interval.high),
            "units": counts(data.times @ (number > 0)),
            "paired_units": counts(paired),
            "annotators": counts(np.zeros(data.width) if people is None else people, people is not None),
            "judgements": counts(data.times @ number),
            "resamples_undefined": counts(interval.undefined),
            "resampled": words([" and ".join(resampled)] * data.width),
            "reason": words(np.where(reason == "", interval.reason, reason)),
        }
    )
    return Result(
        table=table,
        used=int((data.times @ np.where(number >= 2, number, 0)).sum()),
        dropped={"single_rating_of_its_unit": int((data.times @ (number == 1)).sum())},
        method=f"{measure.name}; {interval_method(resampled)}" if resampled else measure.name,
        seed=seed,
        resamples=resamples,
        notes={"categories": list(units.categories), "resampled": resampled},
    )


def interval_method(resampled: list[str]) -> str:
    """The method of an agreement measure's interval, in words."""
    if len(resampled) > 1:
        return f"two-way jackknife of {' and '.join(resampled)}, t quantile"
    return f"bootstrap of {resampled[0]}, percentile"


def _values(data: Scoped, measure: Measure) -> Array:
    value = measure.value(_sums(data, measure))
    if measure.point is not None:
        for code, rows in enumerate(_rows_by(data.scope, data.width)):
            if not np.isnan(value[code]) and len(rows) <= measure.point_at_most:
                value[code] = measure.point(data.units.counts[rows])
    return value


def _sums(data: Scoped, measure: Measure) -> Array:
    """Σ features over the units of each scope (f × scopes)."""
    return np.asarray(measure.features(data.patterns.astype(float)).T @ data.times.T.astype(float))


def _interval(
    data: Scoped,
    measure: Measure,
    value: Array,
    resamples: int,
    seed: int,
    resampling: Resampling | None,
) -> tuple[Intervals, list[str]]:
    """Intervals of the scopes, and the names of what is resampled."""
    units, clusters = data.units, f"{data.units.cluster_name}s"
    if not resamples:
        return no_intervals(data.width), []
    crossed = resampling is None or resampling.annotators_resampled
    answers = units.answers() if crossed else None
    if answers is None:
        return _bootstrap(data, measure, value, resamples, seed, resampling), [clusters]
    without = LeaveOneOut(
        features=measure.features,
        value=measure.value,
        scope=data.scope,
        sums=_sums(data, measure),
        cluster=units.cluster,
        stratum=units.stratum,
        pattern=data.pattern,
        patterns=data.patterns,
        answers=answers,
    )
    return without.intervals(value, measure.bounds), ["annotators", clusters]


def _bootstrap(
    data: Scoped,
    measure: Measure,
    value: Array,
    resamples: int,
    seed: int,
    resampling: Resampling | None,
) -> Intervals:
    """Percentile intervals over resampled clusters; null where the value is null."""
    parts = [
        percentile_intervals(samples, sparse=np.isnan(samples).mean(axis=1))
        for samples in _resampled(data, measure, _weights(data.units, resamples, seed, resampling))
    ]
    low, high, reason, undefined = (
        np.concatenate([getattr(part, name) for part in parts] or [np.empty(0)])
        for name in ("low", "high", "reason", "undefined")
    )
    low, high = (np.where(np.isnan(value), np.nan, end) for end in (low, high))
    return Intervals(low, high, reason, undefined)


def _weights(units: Units, resamples: int, seed: int, resampling: Resampling | None) -> Array:
    """How often each cluster is drawn (clusters × resamples)."""
    stream = 1 if units.cluster_name == "image" else _UNITS
    if resampling is None or units.cluster_name != "image":
        return multinomial_weights(np.bincount(units.stratum), resamples, (seed, stream))
    if len(resampling.image_weights) != units.clusters:
        raise ValueError(f"resampling: expected {units.clusters} images, got {len(resampling.image_weights)}")
    return resampling.image_weights


def _resampled(data: Scoped, measure: Measure, weights: Array) -> Iterator[Array]:
    """The measure of some consecutive scopes in every resample (scopes × resamples).

    Features are summed per (scope, cluster) by a sparse product with the cluster weights, so no array ever has units ×
    resamples entries.
    """
    units, width = data.units, data.width
    features = measure.features(data.patterns.astype(float))[data.pattern]
    resamples, kinds = weights.shape[1], features.shape[1]
    at_once = max(RESAMPLED_AT_ONCE // (resamples * kinds), 1)
    rows_at_once = max(RESAMPLED_AT_ONCE // resamples, 1)
    matrices = [
        csr_array((column, (data.scope, units.cluster)), shape=(width, units.clusters))
        for column in features.T
    ]
    for begin in range(0, width, at_once):
        part = slice(begin, min(begin + at_once, width))
        sums = np.zeros((kinds, part.stop - begin, resamples))
        for start in range(0, units.clusters, rows_at_once):
            cluster_weights = weights[start : start + rows_at_once].astype(float)
            for kind, matrix in enumerate(matrices):
                piece = matrix[part] if width > at_once else matrix
                piece = piece[:, start : start + rows_at_once] if units.clusters > rows_at_once else piece
                sums[kind] += piece @ cluster_weights
        yield measure.value(sums)


def _patterns(table: Array) -> tuple[Array, Array]:
    """The distinct rows of counts, and the row of each unit. Similar units share a few rows."""
    sizes = table.max(axis=0, initial=0) + 1
    if prod(map(int, sizes)) > MARKED_AT_ONCE:
        return np.arange(len(table)), table
    code = np.zeros(len(table), dtype=np.int64)
    for column, size in zip(table.T, sizes, strict=True):
        code *= size
        code += column
    pattern, used = dense(code, prod(map(int, sizes)))
    return pattern, np.stack(np.unravel_index(used, sizes), axis=1)


def _scoped(units: Units, by: str) -> tuple[Array, Array, Array]:
    """Code of each unit's (model, scope value), and the names of the codes."""
    value, names = units.scopes[by]
    key = units.model.astype(np.int64) * len(names) + value
    scope, present = dense(key, len(units.model_names) * len(names))
    return scope, names[present % len(names)], units.model_names[present // len(names)]


def _rows_by(codes: Array, width: int) -> list[Array]:
    if width <= 1:
        return [np.arange(len(codes))] * width
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.searchsorted(codes[order], np.arange(1, width)))
