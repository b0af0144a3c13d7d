"""Krippendorff's α."""

from collections.abc import Sequence
from typing import Any

import krippendorff
import numpy as np

from analysis.metrics.agreement.scopes import Measure, agreement
from analysis.metrics.agreement.units import ALL, coded, units_of
from analysis.metrics.data.arrays import Array, ratio
from analysis.metrics.data.results import Result
from analysis.metrics.data.validation import require_choice
from analysis.metrics.resampling.bootstrap import DEFAULT_RESAMPLES, Resampling

NO_VARIATION = "no_variation"
LEVELS = ("nominal", "ordinal", "interval")
PACKAGE_UNITS = 50_000  # beyond it the package's temporary arrays (units × categories²) dominate the run time


def krippendorff_alpha(
    ratings: Any,
    *,
    level: str = "nominal",
    unsure: str = "missing",
    by: str = ALL,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    resampling: Resampling | None = None,
) -> Result:
    """Krippendorff's α = 1 − D_o / D_e (Krippendorff 2011), missing ratings allowed.

    D_o is the mean distance of pairs of ratings within a unit (each unit's pairs weigh 1/(m − 1)), D_e that
    of all pairs of pairable ratings. Nominal distance: 0 or 1; ordinal: (Σ_{g=c..k} n_g − (n_c + n_k)/2)²;
    interval: (c − k)², of the values themselves (value counts: of the columns 0, 1, …).

    `ratings`: presence judgements (unit = image × attribute), a Likert table (attribute, annotator, rating), coded
    answers (image, annotator, code[, model]; unit = image; ordered codes must be numbers), or value counts (units ×
    categories). `unsure` (Likert): "missing", "middle" (3 between 2 and 4) or, nominal only, "category". `by`: "all",
    "identity_group", "attribute". Several ratings of a unit by one id all count. Units rated once are left out. Null:
    `no_variation` (all ratings are equal), `no_unit_rated_twice`.

    Interval: if ids identify people, it generalises to new annotators and new images (Likert: attributes) and comes
    from the two-way jackknife (`jackknife_intervals`). It is null with `too_few_annotators` (fewer than three rated
    units that others also rated) or `too_sparse` (α is undefined without one annotator or image). Otherwise it is the
    percentile bootstrap of images within group (attributes, units), and null with `too_sparse` if α is undefined in
    over 5 % of resamples. `notes["resampled"]` and the column `resampled` name the method used. `resamples=0` gives no
    interval.

    The `krippendorff` package computes the point estimate from value counts; intervals use coincidence counts.

    >>> krippendorff_alpha(np.array([[2, 0], [1, 1], [0, 2]]), resamples=0).rows()[0]["value"]
    0.4444444444444444
    """
    require_choice(level, "level", LEVELS)
    if level != "nominal" and unsure == "category":
        raise ValueError("unsure: 'category' has no position in an order; use level='nominal'")
    ratings, resampling = coded(ratings, resampling)
    units = units_of(ratings, unsure=unsure)
    return agreement(
        units,
        measure(level, units.categories),
        by=by,
        resamples=resamples,
        seed=seed,
        resampling=resampling,
    )


def measure(level: str, categories: Sequence[Any]) -> Measure:
    domain = _domain(level, categories)
    pairs = np.triu_indices(len(domain), 1)

    def value(sums: Array) -> Array:
        return _alpha(sums, pairs, level, domain)

    def point(table: Array) -> float:
        return float(krippendorff.alpha(value_counts=table, value_domain=domain, level_of_measurement=level))

    return Measure(
        name=f"krippendorff_alpha_{level}",
        features=lambda table: _features(table, pairs),
        value=value,
        reason=NO_VARIATION,
        point=point,
        point_at_most=PACKAGE_UNITS,
    )


def _domain(level: str, categories: Sequence[Any]) -> Array:
    """The values of the categories; names have none, and need none when all distances are equal."""
    if all(isinstance(category, (int, float, np.number)) for category in categories):
        return np.asarray(categories, dtype=float)
    if level != "nominal":
        raise ValueError(f"ratings: codes must be numbers for level={level!r}, got {categories[0]!r}")
    return np.arange(len(categories), dtype=float)


def _features(table: Array, pairs: tuple[Array, Array]) -> Array:
    """Per unit: its coincidences of each pair of different values, then its pairable ratings of each
    value."""
    number = table.sum(axis=1)
    pairable = number >= 2
    weight = np.where(pairable, 1 / np.maximum(number - 1, 1), 0.0)
    return np.concatenate(
        [table[:, pairs[0]] * table[:, pairs[1]] * weight[:, None], table * pairable[:, None]], axis=1
    )


def _alpha(sums: Array, pairs: tuple[Array, Array], level: str, domain: Array) -> Array:
    coincidences, values = sums[: len(pairs[0])], sums[len(pairs[0]) :]
    total = values.sum(axis=0)
    if level == "ordinal":
        upto = np.cumsum(values, axis=0)
        # Σ_{g=c..k} n_g − (n_c + n_k)/2, with the sum as a difference of running totals
        span = upto[pairs[1]] - upto[pairs[0]] + values[pairs[0]]
        distance = (span - (values[pairs[0]] + values[pairs[1]]) / 2) ** 2
    else:
        apart = np.ones(len(pairs[0])) if level == "nominal" else (domain[pairs[0]] - domain[pairs[1]]) ** 2
        distance = np.broadcast_to(apart.reshape(-1, *[1] * (coincidences.ndim - 1)), coincidences.shape)
    observed = (coincidences * distance).sum(axis=0)
    expected = (values[pairs[0]] * values[pairs[1]] * distance).sum(axis=0)
    return np.asarray(1 - ratio(observed * (total - 1), expected))
