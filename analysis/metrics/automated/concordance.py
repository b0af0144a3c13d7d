"""Concordance: how well automatic scores agree with people, and which attributes can be scored automatically."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from analysis.metrics.automated.accuracy import area_under_roc, average_precision, choose_threshold, spearman
from analysis.metrics.automated.calibration import NOT_A_PROBABILITY, calibration_bins
from analysis.metrics.automated.scored_units import ScoredUnits, scored_units
from analysis.metrics.data.arrays import Array, ratio
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.validation import require_share, require_whole
from analysis.metrics.resampling.bootstrap import DEFAULT_RESAMPLES, multinomial_weights
from analysis.metrics.resampling.intervals import ZERO_WIDTH, percentile_intervals, wilson

NO_MAJORITY = "no_majority"
ONE_CLASS = "one_class_only"
TOO_FEW_POSITIVES = "too_few_positives"
TOO_FEW_NEGATIVES = "too_few_negatives"
NONE_PREDICTED = "none_predicted"
CONSTANT = "constant"
LEAST_OF_A_CLASS = 3  # in each half
HELD_AT_ONCE = 4_000_000  # resample weights in memory, as floats
_IMAGES = 9  # stream of the seed


@dataclass(frozen=True, eq=False, kw_only=True)
class Concordance(Result):
    """`table`: per scorer and model, all attributes together and each one. `calibration`: scores in ten bins."""

    calibration: pd.DataFrame


def concordance(
    scores: pd.DataFrame,
    judgements: pd.DataFrame,
    *,
    target_precision: float = 0.9,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Concordance:
    """Compare scores with people's answers, per scorer and model: all attributes together (attribute null) and each.

    `scores`: image, attribute, score[, scorer, model]; a higher score means that the attribute is more likely present,
    and each image and attribute occurs once; `judgements`: image, attribute, present (0/1). A unit (image, attribute)
    with n answers, k of them yes, is positive where k/n > ½. Ties count only for brier and spearman; the number left
    out is stated. `n`: units with a majority; `positives`: the positive units among them.

    average_precision = Σ ΔR·P over distinct scores; auc = P(positive scores higher) with ties ½; brier = mean (score −
    k/n)²; spearman of score and k/n. The threshold is chosen on one half of the images, and precision, recall and F1
    are computed on the other half; the hash of an image's name decides its half. The threshold has the best F1 among
    those for which the lower end of the Wilson interval of precision reaches `target_precision`, or among all
    thresholds if there are none. Interval of precision, percentile 95 %: the images of the other half are resampled; if
    all or none of the `predicted` units are right, Wilson on the number of their images. `automatable`: the lower end
    of this interval reaches `target_precision`.

    Null, with a reason: `no_majority` (ties only), `one_class_only`, `too_few_positives`,
    `too_few_negatives` (fewer than 3 in a half: no threshold), `none_predicted` (no precision), `too_sparse`
    (no interval), `not_a_probability` (no brier because a score is outside 0 … 1), `constant` (no spearman).

    `calibration`: mean score and mean k/n of the units in each tenth of 0 … 1, with an interval of the same kind, over
    all units of a scorer and model. ValueError: a column is missing, an answer is not 0 or 1, a score is not a number
    or occurs twice.
    """
    target = require_share(target_precision, "target_precision")
    resamples = require_whole(resamples, "resamples", 0)
    seed = require_whole(seed, "seed", 0)
    units, dropped, used = scored_units(scores, judgements)
    tables = [_table(scorer_units, target, resamples, seed) for scorer_units in units]
    bins = [_calibration(scorer_units, resamples, seed) for scorer_units in units]
    return Concordance(
        table=pd.concat(tables, ignore_index=True) if tables else _frame([], "", ""),
        calibration=pd.concat(bins, ignore_index=True) if bins else calibration_bins("", "", *_NOTHING)[:0],
        used=used,
        dropped=dropped,
        method="threshold chosen on one half of the images, reported on the other; bootstrap of images",
        seed=seed,
        resamples=resamples,
        notes={"target_precision": target, "least_of_a_class": LEAST_OF_A_CLASS},
    )


@dataclass(frozen=True, eq=False)
class _Row:
    """One line of the table; `hits` and `predicted`: the images, as positions in the reporting half, of the predicted
    units that are right and of all predicted units."""

    attribute: str | None
    n: int
    positives: int
    ties: int
    average_precision: float
    auc: float
    brier: float
    spearman: float
    threshold: float
    recall: float
    f1: float
    hits: Array
    predicted: Array
    reason: str
    later_reason: str


def _table(units: ScoredUnits, target: float, resamples: int, seed: int) -> pd.DataFrame:
    choosing = units.halves()
    edges = np.flatnonzero(np.diff(units.attribute, prepend=-1, append=-1))
    rows = [_row(units, slice(None), None, choosing, target)]
    for start, stop in pairwise(edges.tolist()):
        name = str(units.attribute_names[units.attribute[start]])
        rows.append(_row(units, slice(start, stop), name, choosing, target))
    frame = _frame(rows, units.scorer, units.model)
    other_half = int((~choosing).sum())
    hits, predicted = (
        _per_image([getattr(row, name) for row in rows], other_half) for name in ("hits", "predicted")
    )
    right, number = (np.asarray(of.sum(axis=1), dtype=float) for of in (hits, predicted))
    precision = ratio(right, number)
    low, high, why = _interval(hits, predicted, precision, resamples, seed)
    reason = [
        row.reason or (NONE_PREDICTED if not n_predicted else "") or unknown or row.later_reason
        for row, n_predicted, unknown in zip(rows, number, why, strict=True)
    ]
    able = pd.array(low >= target, dtype="boolean")
    able[np.isnan(low)] = pd.NA
    values: dict[str, Any] = {
        "precision": numbers(precision),
        "precision_low": numbers(low),
        "precision_high": numbers(high),
        "automatable": able,
        "predicted": counts(number, ~np.isnan(frame["threshold"].to_numpy(dtype=float, na_value=np.nan))),
        "reason": words(reason),
    }
    return frame.assign(**values)


def _row(units: ScoredUnits, chosen: slice, attribute: str | None, choosing: Array, target: float) -> _Row:
    score, share = units.score[chosen], units.share[chosen]
    decided, positive = units.has_majority[chosen], units.positive[chosen]
    image, place = units.image[chosen], np.cumsum(~choosing) - 1
    probability = bool(((score >= 0) & (score <= 1)).all())
    choosing_half = decided & choosing[image]
    reporting_half = decided & ~choosing[image]
    reason = _too_little(positive, decided, choosing_half, reporting_half)
    threshold = np.nan if reason else choose_threshold(score[choosing_half], positive[choosing_half], target)
    predicted = reporting_half & (score >= threshold)
    hits = predicted & positive
    n_positive = int((reporting_half & positive).sum())
    correlation = spearman(score, share)
    return _Row(
        attribute=attribute,
        n=int(decided.sum()),
        positives=int(positive.sum()),
        ties=int((~decided).sum()),
        average_precision=average_precision(score[decided], positive[decided]),
        auc=area_under_roc(score[decided], positive[decided]),
        brier=float(((score - share) ** 2).mean()) if probability else np.nan,
        spearman=correlation,
        threshold=threshold,
        recall=np.nan if reason else hits.sum() / n_positive,
        f1=np.nan if reason else 2 * hits.sum() / (predicted.sum() + n_positive),
        hits=place[image[hits]],
        predicted=place[image[predicted]],
        reason=reason,
        later_reason=NOT_A_PROBABILITY if not probability else CONSTANT if np.isnan(correlation) else "",
    )


def _too_little(positive: Array, decided: Array, choosing_half: Array, reporting_half: Array) -> str:
    """Why no threshold can be chosen and evaluated; '' if it can."""
    if not decided.any():
        return NO_MAJORITY
    if positive[decided].all() or not positive[decided].any():
        return ONE_CLASS
    if min((positive & half).sum() for half in (choosing_half, reporting_half)) < LEAST_OF_A_CLASS:
        return TOO_FEW_POSITIVES
    if min((~positive & half).sum() for half in (choosing_half, reporting_half)) < LEAST_OF_A_CLASS:
        return TOO_FEW_NEGATIVES
    return ""


def _per_image(rows: list[Array], images: int) -> csr_array:
    """How often each row (positions of images) contains each image."""
    ends = np.append(0, np.cumsum([len(row) for row in rows]))
    counts_by_image = csr_array((np.ones(ends[-1]), np.concatenate(rows), ends), shape=(len(rows), images))
    counts_by_image.sum_duplicates()
    return counts_by_image


def _interval(
    hits: csr_array, predicted: csr_array, precision: Array, resamples: int, seed: int
) -> tuple[Array, Array, Array]:
    """Ends of the interval of precision per row, and the reason if there is none."""
    sample = resampled_ratio(hits, predicted, resamples, seed)
    interval = percentile_intervals(sample, sparse=np.isnan(sample).mean(axis=1))
    images = np.asarray((predicted > 0).sum(axis=1), dtype=float)
    constant = (interval.reason == ZERO_WIDTH) & (images > 0)
    least, most = wilson(np.nan_to_num(precision), np.maximum(images, 1))
    low, high = np.where(constant, least, interval.low), np.where(constant, most, interval.high)
    return low, high, np.where(constant, "", interval.reason)


def resampled_ratio(above: csr_array, below: csr_array, resamples: int, seed: int) -> Array:
    """Σ w·above / Σ w·below per row (rows × images) in each resample of the images; NaN where below is 0."""
    images = above.shape[1]
    sample = np.full((above.shape[0], max(resamples, 1)), np.nan)
    weights = multinomial_weights([images], resamples, (seed, _IMAGES))
    width = max(HELD_AT_ONCE // max(images, 1), 1)
    for begin in range(0, resamples, width):
        drawn = weights[:, begin : begin + width].astype(float)
        numerator, denominator = above @ drawn, below @ drawn
        np.divide(numerator, denominator, out=sample[:, begin : begin + width], where=denominator > 0)
    return sample


def _calibration(units: ScoredUnits, resamples: int, seed: int) -> pd.DataFrame:
    def resampled(above: csr_array, below: csr_array) -> Array:
        return resampled_ratio(above, below, resamples, seed)

    return calibration_bins(
        units.scorer, units.model, units.score, units.share, units.image, len(units.image_names), resampled
    )


_NOTHING = (
    np.empty(0),
    np.empty(0),
    np.empty(0, dtype=int),
    0,
    lambda above, _: np.full((above.shape[0], 1), np.nan),
)


def _frame(rows: list[_Row], scorer: str, model: str) -> pd.DataFrame:
    """The table before resampling: the resampled columns are null."""
    number = len(rows)
    empty = numbers(np.full(number, np.nan))
    return pd.DataFrame(
        {
            "scorer": labels([scorer] * number),
            "model": labels([model] * number),
            "attribute": words(row.attribute for row in rows),
            **{
                name: counts([getattr(row, field) for row in rows])
                for name, field in (("n", "n"), ("positives", "positives"), ("ties_left_out", "ties"))
            },
            "threshold": numbers([row.threshold for row in rows]),
            "precision": empty,
            "recall": numbers([row.recall for row in rows]),
            "f1": numbers([row.f1 for row in rows]),
            "precision_low": empty,
            "precision_high": empty,
            **{
                name: numbers([getattr(row, name) for row in rows])
                for name in ("average_precision", "auc", "brier", "spearman")
            },
            "automatable": pd.array([None] * number, dtype="boolean"),
            "predicted": counts(np.zeros(number), False),
            "reason": words([""] * number),
        }
    )
