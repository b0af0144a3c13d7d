"""Ratings counted per unit, and agreement of any kind over them: as it stands and resampled."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from analysis.metrics.annotator_ids import ids_stand_for_people
from analysis.metrics.intervals import percentile_intervals
from analysis.metrics.judgements import MARKED_AT_ONCE, Judgements, dense
from analysis.metrics.resampling import DEFAULT_RESAMPLES, Resampling, multinomial_weights, resampling_of
from analysis.metrics.results import Result, counts, labels, numbers, words
from analysis.metrics.validation import (
    finite,
    first,
    require_choice,
    require_columns,
    require_filled,
    require_whole,
)

ALL = "all"
SCOPES = (ALL, "identity_group", "attribute")
UNSURE = 3
LIKERT = (1, 2, 3, 4, 5)
UNSURE_MODES = ("missing", "middle", "category")
NO_PAIRS = "no_unit_rated_twice"
RESAMPLED_AT_ONCE = 4_000_000
_UNITS = 2  # stream of the seed, beside those of images and annotators


@dataclass(frozen=True, eq=False)
class Units:
    """`counts[u, v]`: how many ratings of unit u have the v-th category.

    `cluster` is what is resampled: the image of a presence judgement, the attribute of a Likert rating.
    `stratum_sizes` are the numbers of clusters drawn together. `annotators(scope, width)` counts who rated the
    units of each scope; None where ids are not people.
    """

    counts: np.ndarray
    categories: tuple[Any, ...]
    cluster: np.ndarray
    clusters: int
    stratum_sizes: np.ndarray
    cluster_name: str
    model: np.ndarray
    model_names: np.ndarray
    scopes: dict[str, tuple[np.ndarray, np.ndarray]]
    annotators: Callable[[np.ndarray, int], np.ndarray | None]


@dataclass(frozen=True)
class Measure:
    """A coefficient that is a function of sums of per-unit features.

    `features(counts)` → units × f; `value(sums)` maps sums (f × …) to the coefficient (…), NaN where
    undefined; `reason(sums)` names why for one scope. `point` replaces the value of the whole scope where a
    package computes it, of at most so many units.
    """

    name: str
    features: Callable[[np.ndarray], np.ndarray]
    value: Callable[[np.ndarray], np.ndarray]
    reason: str
    point: Callable[[np.ndarray], float] | None = None
    point_at_most: int = 0


def units_of(ratings: Any, *, unsure: str = "category") -> Units:
    """Count ratings per unit.

    `ratings` is a table of presence judgements (column `present`; unit = image × attribute), a Likert table
    (attribute, annotator, rating 1..5; unit = attribute), a `Judgements`, or an array of value counts (units
    × categories).
    """
    if isinstance(ratings, np.ndarray):
        return _from_counts(ratings)
    if isinstance(ratings, Judgements):
        return _from_judgements(ratings)
    if isinstance(ratings, pd.DataFrame) and "rating" in ratings and "present" not in ratings:
        return _from_likert(ratings, unsure)
    return _from_judgements(Judgements.of(ratings))


def agreement(
    units: Units,
    measure: Measure,
    *,
    by: str = ALL,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    resampling: Resampling | None = None,
) -> Result:
    """The measure in each scope (per model: everything, or each identity group or attribute), with its
    interval."""
    require_choice(by, "by", tuple(units.scopes))
    resamples = require_whole(resamples, "resamples", 0)
    seed = require_whole(seed, "seed", 0)
    scope, names, models = _scoped(units, by)
    width = len(names)
    pattern, patterns = _patterns(units.counts)
    features = measure.features(patterns.astype(float))
    alike = pattern if width == 1 else scope.astype(np.int64) * len(patterns) + pattern
    times = np.bincount(alike, minlength=width * len(patterns)).reshape(width, len(patterns))
    value = measure.value(features.T @ times.T.astype(float))
    if measure.point is not None:
        for code, rows in enumerate(_rows_by(scope, width)):
            if not np.isnan(value[code]) and len(rows) <= measure.point_at_most:
                value[code] = measure.point(units.counts[rows])
    number = patterns.sum(axis=1)
    paired = times @ (number >= 2)
    reason = np.where(np.isnan(value), np.where(paired == 0, NO_PAIRS, measure.reason), "").astype(object)
    if resampling is not None:
        resamples, seed = resampling.resamples, resampling.seed
    low, high = np.full(width, np.nan), np.full(width, np.nan)
    undefined = np.zeros(width, dtype=int)
    if resamples:
        per_unit = features[pattern]
        for part, samples in _resampled(units, measure, scope, width, per_unit, resamples, seed, resampling):
            lost = np.isnan(samples).mean(axis=1)
            interval = percentile_intervals(samples, sparse=lost)
            stands = ~np.isnan(value[part])
            low[part] = np.where(stands, interval.low, np.nan)
            high[part] = np.where(stands, interval.high, np.nan)
            undefined[part] = interval.undefined
            reason[part] = np.where(reason[part] == "", interval.reason, reason[part])
    people = units.annotators(scope, width)
    table = pd.DataFrame(
        {
            "model": labels(models),
            "scope": labels([by] * width),
            "scope_value": labels(names),
            "measure": labels([measure.name] * width),
            "value": numbers(value),
            "ci_low": numbers(low),
            "ci_high": numbers(high),
            "units": counts(times @ (number > 0)),
            "paired_units": counts(paired),
            "annotators": counts(np.zeros(width) if people is None else people, people is not None),
            "judgements": counts(times @ number),
            "resamples_undefined": counts(undefined),
            "reason": words(reason),
        }
    )
    return Result(
        table=table,
        used=int((times @ np.where(number >= 2, number, 0)).sum()),
        dropped={"single_rating_of_its_unit": int((times @ (number == 1)).sum())},
        method=f"{measure.name}; bootstrap of {units.cluster_name}s" if resamples else measure.name,
        seed=seed,
        resamples=resamples,
        notes={"categories": list(units.categories)},
    )


def _patterns(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows of counts, and which of them each unit has: a handful where units are alike."""
    sizes = table.max(axis=0, initial=0) + 1
    if prod(map(int, sizes)) > MARKED_AT_ONCE:
        return np.arange(len(table)), table
    code = np.zeros(len(table), dtype=np.int64)
    for column, size in zip(table.T, sizes, strict=True):
        code *= size
        code += column
    pattern, used = dense(code, prod(map(int, sizes)))
    return pattern, np.stack(np.unravel_index(used, sizes), axis=1)


def _resampled(
    units: Units,
    measure: Measure,
    scope: np.ndarray,
    width: int,
    features: np.ndarray,
    resamples: int,
    seed: int,
    resampling: Resampling | None,
) -> Iterator[tuple[slice, np.ndarray]]:
    """The measure of some consecutive scopes in every resample (scopes × resamples).

    Features are summed per (scope, cluster) by a sparse product with the cluster weights, so nothing is ever
    as long as units × resamples.
    """
    if resampling is not None and units.cluster_name == "image":
        if len(resampling.image_weights) != units.clusters:
            raise ValueError(
                f"resampling: it has {len(resampling.image_weights)} images, got {units.clusters}"
            )
        weights = resampling.image_weights
    else:
        weights = multinomial_weights(
            units.stratum_sizes, resamples, (seed, 1 if units.cluster_name == "image" else _UNITS)
        )
    kinds = features.shape[1]
    at_once = max(RESAMPLED_AT_ONCE // (resamples * kinds), 1)
    rows_at_once = max(RESAMPLED_AT_ONCE // resamples, 1)
    matrices = [
        csr_array((column, (scope, units.cluster)), shape=(width, units.clusters)) for column in features.T
    ]
    for begin in range(0, width, at_once):
        part = slice(begin, min(begin + at_once, width))
        sums = np.zeros((kinds, part.stop - begin, resamples))
        for start in range(0, units.clusters, rows_at_once):
            held = weights[start : start + rows_at_once].astype(float)
            for kind, matrix in enumerate(matrices):
                piece = matrix[part] if width > at_once else matrix
                piece = piece[:, start : start + rows_at_once] if units.clusters > rows_at_once else piece
                sums[kind] += piece @ held
        yield part, measure.value(sums)


def _scoped(units: Units, by: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Code of each unit's (model, scope value), and the names behind the codes."""
    value, names = units.scopes[by]
    key = units.model.astype(np.int64) * len(names) + value
    scope, present = dense(key, len(units.model_names) * len(names))
    return scope, names[present % len(names)], units.model_names[present // len(names)]


def _rows_by(codes: np.ndarray, width: int) -> list[np.ndarray]:
    if width <= 1:
        return [np.arange(len(codes))] * width
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.searchsorted(codes[order], np.arange(1, width)))


def _distinct(scope: np.ndarray, annotator: np.ndarray, width: int) -> np.ndarray:
    """How many annotators there are in each scope."""
    people = int(annotator.max(initial=0)) + 1
    _, pairs = dense(scope.astype(np.int64) * people + annotator, width * people)
    return np.bincount(pairs // people, minlength=width)


def _from_judgements(data: Judgements) -> Units:
    unit_cell, unit_image = data.unit_cell, data.unit_image
    shown, marked = data.unit_shown, data.unit_marked
    real = ~data.cell_is_none[unit_cell]
    if not real.all():
        unit_cell, unit_image, shown, marked = unit_cell[real], unit_image[real], shown[real], marked[real]

    def annotators(scope: np.ndarray, width: int) -> np.ndarray | None:
        if not ids_stand_for_people(data):
            return None
        if width == 1 and real.all():
            return np.array([len(data.annotator_names)])
        rows = real[data.row_unit]
        unit = (np.cumsum(real) - 1)[data.row_unit[rows]]
        return _distinct(scope[unit], data.row_annotator[rows], width)

    return Units(
        counts=np.stack([shown - marked, marked]).T,
        categories=(0, 1),
        cluster=unit_image,
        clusters=len(data.image_group),
        stratum_sizes=np.bincount(data.image_stratum),
        cluster_name="image",
        model=data.cell_model[unit_cell],
        model_names=data.model_names,
        scopes={
            ALL: (np.zeros(len(unit_cell), dtype=np.int8), np.array([""], dtype=object)),
            "identity_group": (data.cell_group[unit_cell], data.group_names),
            "attribute": (data.cell_attribute[unit_cell], data.attribute_names),
        },
        annotators=annotators,
    )


def likert_codes(ratings: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Attribute codes, attribute names, annotator codes, annotator names and whole ratings of a Likert
    table."""
    ratings = require_columns(ratings, "ratings", ("attribute", "annotator", "rating"))
    require_filled(ratings, "ratings", ("attribute", "annotator", "rating"))
    number = finite(ratings["rating"], "ratings")
    wrong = ~np.isin(number, LIKERT)
    if wrong.any():
        raise ValueError(
            f"ratings: rating must be a whole number from 1 to 5, got {first(ratings['rating'], wrong)!r}"
        )
    attribute, names = pd.factorize(ratings["attribute"], sort=True)
    annotator, people = pd.factorize(ratings["annotator"], sort=True)
    return (
        attribute,
        np.asarray(names, dtype=object),
        annotator,
        np.asarray(people, dtype=object),
        number.astype(int),
    )


def _from_likert(ratings: pd.DataFrame, unsure: str) -> Units:
    require_choice(unsure, "unsure", UNSURE_MODES)
    attribute, names, annotator, _, rating = likert_codes(ratings)
    categories = tuple(value for value in LIKERT if value != UNSURE or unsure != "missing")
    kept = np.isin(rating, categories)
    value = np.searchsorted(categories, rating[kept])
    table = np.bincount(attribute[kept] * len(categories) + value, minlength=len(names) * len(categories))
    unit = np.arange(len(names))
    known = rated_once_each(ratings, attribute, annotator)

    def raters(scope: np.ndarray, width: int) -> np.ndarray | None:
        return _distinct(scope[attribute[kept]], annotator[kept], width) if known else None

    return Units(
        counts=table.reshape(len(names), len(categories)),
        categories=categories,
        cluster=unit,
        clusters=len(names),
        stratum_sizes=np.array([len(names)]),
        cluster_name="attribute",
        model=np.zeros(len(names), dtype=int),
        model_names=np.array([""], dtype=object),
        scopes={
            ALL: (np.zeros(len(names), dtype=int), np.array([""], dtype=object)),
            "attribute": (unit, names),
        },
        annotators=raters,
    )


def rated_once_each(ratings: pd.DataFrame, attribute: np.ndarray, annotator: np.ndarray) -> bool:
    """Whether no id rated an attribute twice in one campaign: a sign that ids stand for people."""
    campaign = pd.factorize(ratings["campaign"])[0] if "campaign" in ratings else np.zeros(len(ratings), int)
    answers = np.stack([attribute, annotator, campaign], axis=1)
    return len(np.unique(answers, axis=0)) == len(answers)


def _unknown(_scope: np.ndarray, _width: int) -> None:
    """Counts do not say whose they are."""


def _from_counts(table: np.ndarray) -> Units:
    if (
        table.ndim != 2
        or table.shape[1] < 2
        or (table < 0).any()
        or not np.equal(table, np.floor(table)).all()
    ):
        raise ValueError(
            f"ratings: value counts must be whole numbers, units × (2 or more) categories, got {table.shape}"
        )
    unit = np.arange(len(table))
    return Units(
        counts=table.astype(np.int64),
        categories=tuple(range(table.shape[1])),
        cluster=unit,
        clusters=len(table),
        stratum_sizes=np.array([len(table)]),
        cluster_name="unit",
        model=np.zeros(len(table), dtype=int),
        model_names=np.array([""], dtype=object),
        scopes={ALL: (np.zeros(len(table), dtype=int), np.array([""], dtype=object))},
        annotators=_unknown,
    )


def coded(ratings: Any, resampling: Resampling | None) -> tuple[Any, Resampling | None]:
    """A handed resampling already holds the coded judgements: count those instead of coding again."""
    if resampling is None:
        return ratings, None
    resampling_of(ratings, resampling, None, resampling.resamples, resampling.seed)
    return resampling.judgements, resampling
