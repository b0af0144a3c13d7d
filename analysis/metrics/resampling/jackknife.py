"""The two-way jackknife: intervals from leaving out each annotator and each image in turn, with a t quantile."""

from dataclasses import dataclass

import numpy as np

from analysis.metrics.data.arrays import Array
from analysis.metrics.resampling.intervals import (
    LEVEL,
    NO_RESAMPLES,
    ROUNDING,
    TOO_FEW_ANNOTATORS,
    TOO_SPARSE,
    ZERO_WIDTH,
    Intervals,
)

LEAST_ANNOTATORS = 3  # if one of two is left out, there is nothing to compare
# In the degrees of freedom: weight of annotators' variance without chance, from simulations.
CHANCE_PART = 0.25


@dataclass(frozen=True, eq=False)
class LeftOut:
    """A statistic with one cluster (an annotator or an image) left out.

    `value[j]` is estimate `row[j]` without its cluster j, NaN if it is undefined; `stratum[j]` is the stratum of
    cluster j, None if a row has a single stratum.
    """

    row: Array
    value: Array
    stratum: Array | None = None


@dataclass(frozen=True, eq=False)
class Spread:
    """Per row, the moments from leaving out each cluster. `third` is the third cumulant of the estimate, `bias` the
    jackknife estimate of its bias, `freedom` the degrees of freedom of `variance`."""

    clusters: Array
    undefined: Array
    variance: Array
    third: Array
    bias: Array
    freedom: Array


def jackknife_intervals(
    estimate: Array,
    *,
    annotators: LeftOut,
    images: LeftOut,
    chance: Array,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    level: float = LEVEL,
) -> Intervals:
    """Intervals of estimates that generalise to new annotators and new images.

    Variance: V = V_images + max(V_annotators − V_cells, 0). V of a side is (n − 1)/n Σ(θ₍ⱼ₎ − mean θ₍ⱼ₎)² over its n
    clusters, with images within their stratum. Chance in an annotator's answers about one image is part of both
    V_annotators and V_images, so it is subtracted once: V_cells = Σ(θ₍ᵣᵢ₎ − θ)², leaving out all answers of one
    annotator about one image at a time (`chance`, one number per estimate). The ends are estimate ± t·√V. Degrees of
    freedom: Satterthwaite's; each side has at most its number of clusters − 1, and fewer if a few clusters account for
    most of the variance (by the kurtosis). The ends move outward, never inward, to correct for the skewness of the
    clusters' influence (third cumulant / V) and for the estimate's bias.

    Null: `too_few_annotators` (fewer than three), `too_sparse` (an estimate is undefined without one of its
    clusters), `zero_width`, `no_resamples` (the estimate is undefined). `bounds` are the limits of the statistic.

    Source: Owen 2007 (crossed clusters); Efron & Tibshirani 1993, ch. 11; Satterthwaite 1946; Johnson 1978.
    """
    from scipy.special import stdtrit  # 0.1 s to import

    people = spread(annotators, estimate, unbiased=True)
    pictures = spread(images, estimate)
    between = np.maximum(people.variance - chance, 0)
    variance = pictures.variance + between
    with np.errstate(invalid="ignore", divide="ignore"):
        weighed = (1 - CHANCE_PART) * people.variance**2 + CHANCE_PART * between**2
        freedom = variance**2 / (weighed / people.freedom + pictures.variance**2 / pictures.freedom)
        part = np.where(people.variance > 0, between / people.variance, 0.0) ** 1.5
        skew = (part * people.third + pictures.third) / variance
    bias = people.bias + pictures.bias
    half = stdtrit(np.maximum(freedom, 1.0), (1 + level) / 2) * np.sqrt(variance)
    low = estimate - half + np.minimum(skew, 0) - np.maximum(bias, 0)
    high = estimate + half + np.maximum(skew, 0) - np.minimum(bias, 0)
    undefined = people.undefined + pictures.undefined
    reason = np.full(len(estimate), "", dtype=object)
    reason[~(half > ROUNDING * np.abs(estimate))] = ZERO_WIDTH
    reason[undefined > 0] = TOO_SPARSE
    reason[people.clusters < LEAST_ANNOTATORS] = TOO_FEW_ANNOTATORS
    reason[np.isnan(estimate)] = NO_RESAMPLES
    stands = reason == ""
    low, high = (np.where(stands, np.clip(end, *bounds), np.nan) for end in (low, high))
    return Intervals(low, high, reason, undefined)


def spread(left_out: LeftOut, estimate: Array, *, unbiased: bool = False) -> Spread:
    """Jackknife moments per row; `unbiased` uses the small-sample kurtosis."""
    rows = len(estimate)
    row, value = left_out.row, left_out.value
    undefined = np.bincount(row[np.isnan(value)], minlength=rows)
    group, group_row = _groups(left_out)
    size = np.bincount(group, minlength=len(group_row))
    shift = np.where(np.isnan(value), 0.0, value - estimate[row])
    mean = np.bincount(group, weights=shift, minlength=len(group_row)) / np.maximum(size, 1)
    part = np.sqrt(1 - 1 / np.maximum(size, 1))
    # Leaving out a cluster that raises the statistic lowers it: the influence has the opposite sign.
    influence = (mean[group] - shift) * part[group]

    def moment(power: int) -> Array:
        return np.bincount(row, weights=influence**power, minlength=rows)

    clusters = np.bincount(row, minlength=rows)
    second = moment(2)
    free = np.maximum(clusters - np.bincount(group_row, minlength=rows), 1).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        kurtosis = np.where(second > 0, clusters * moment(4) / second**2, 1.0)
    return Spread(
        clusters=clusters,
        undefined=undefined,
        variance=second,
        third=moment(3),
        bias=np.bincount(group_row, weights=(size - 1) * mean, minlength=rows),
        freedom=_freedom(clusters.astype(float), free, kurtosis, unbiased),
    )


def _freedom(number: Array, free: Array, kurtosis: Array, unbiased: bool) -> Array:
    """Degrees of freedom of a variance whose terms have this kurtosis: 2 over its squared coefficient of
    variation, at most `free`."""
    with np.errstate(invalid="ignore", divide="ignore"):
        if unbiased:  # Fisher's G₂ instead of the sample's excess, which is too small for few clusters
            excess = (number - 1) / ((number - 2) * (number - 3)) * ((number + 1) * (kurtosis - 3) + 6)
            fewer = 2 / (excess / number + 2 / free)
            return np.where((number > 3) & (excess > 0), np.minimum(fewer, free), free)
        return np.where(kurtosis > 1, np.minimum(2 * number / (kurtosis - 1), free), free)


def _groups(left_out: LeftOut) -> tuple[Array, Array]:
    """Group of each cluster, and row of each group. Groups are the strata of a row; strata with a single cluster are
    merged."""
    row, stratum = left_out.row, left_out.stratum
    if stratum is None:
        rows, group = np.unique(row, return_inverse=True)
        return group, rows
    width = int(stratum.max(initial=0)) + 2
    key = row.astype(np.int64) * width + stratum + 1
    _, place, size = np.unique(key, return_inverse=True, return_counts=True)
    key = np.where(size[place] == 1, row.astype(np.int64) * width, key)
    keys, group = np.unique(key, return_inverse=True)
    return group, keys // width
