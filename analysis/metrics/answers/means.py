"""Means and shares of answers about several items, and the differences between items."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from analysis.metrics.data.arrays import Array, ratio
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.validation import (
    finite,
    first_value,
    require_choice,
    require_columns,
    require_filled,
)
from analysis.metrics.resampling.design_effect import crossed_design_effects
from analysis.metrics.resampling.influence import influence_intervals
from analysis.metrics.resampling.intervals import ZERO_WIDTH, Intervals, wilson

COLUMNS = ("item", "unit", "annotator", "value")
COMPARED = ("pairs", "others", "nothing")
METHOD = "two-way infinitesimal jackknife of units and annotators"
SHARE_METHOD = f"{METHOD}; Wilson on n / design effect if that has zero width"
ONE_ITEM = "one_item"


@dataclass(frozen=True, eq=False, kw_only=True)
class Means(Result):
    """`table`: one row per item. `differences`: one row per pair of items, or per item against all others."""

    differences: pd.DataFrame


def answer_means(
    answers: Any,
    *,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    share: bool = False,
    compare: str = "pairs",
) -> Means:
    """Means of answers by item, and the differences between items.

    `answers`: one row per answer with the columns item (such as the model of an image), unit (the judged object, such
    as the image), annotator and value. mean(i) = Σ value / n over the answers about i: an image with more answers
    weighs more. `bounds` are the limits of a value.

    `share=True`: values are 0 and 1, and the mean is the share of ones. If it is 0 or 1, or if units and annotators do
    not differ, the interval is Wilson's on n / design effect (`crossed_design_effects`).

    `differences`: with `compare="pairs"`, mean(item) − mean(other) for each pair of items; with "others", mean(item)
    minus the unweighted mean of all other items (`other` is null). `distinct` is true if the 95 % interval of the
    difference excludes 0. There is no correction for the number of differences.

    Intervals generalise to other units and other annotators (`influence_intervals`). They are null with
    `too_few_annotators` (fewer than three) or `zero_width`, and a difference from the others with `one_item` if there
    are no others. Raises ValueError for a missing column, an empty cell and a value outside `bounds`, and with `share`
    for a value other than 0 and 1.

    >>> rows = [("a", 1, "p", 5), ("a", 1, "q", 4), ("b", 2, "p", 2), ("b", 2, "q", 1)]
    >>> table = pd.DataFrame(rows, columns=["item", "unit", "annotator", "value"])
    >>> result = answer_means(table, bounds=(1, 5))
    >>> [row["value"] for row in result.rows()], result.differences["difference"].tolist()
    ([4.5, 1.5], [3.0])
    """
    require_choice(compare, "compare", COMPARED)
    data = _ItemAnswers.of(answers, (0.0, 1.0) if share else bounds)
    if share and not np.isin(data.value, (0, 1)).all():
        value = first_value(pd.Series(data.value), ~np.isin(data.value, (0, 1)))
        raise ValueError(f"answers: column 'value' must contain 0 or 1, got {value!r}")
    own = data.intervals(np.eye(len(data.items)))
    if share:
        own = _with_wilson(data, own)
    return Means(
        table=pd.DataFrame(
            {
                "item": labels(data.items),
                "answers": counts(data.number),
                "units": counts(data.distinct(data.unit)),
                "annotators": counts(data.distinct(data.annotator)),
                "value": numbers(data.mean),
                "ci_low": numbers(own.low),
                "ci_high": numbers(own.high),
                "reason": words(own.reason),
            }
        ),
        differences=_differences(data, compare),
        used=len(data.value),
        method=SHARE_METHOD if share else METHOD,
    )


@dataclass(frozen=True, eq=False)
class _ItemAnswers:
    """One entry per answer; `item`, `unit` and `annotator` are codes from 0."""

    items: Array
    item: Array
    unit: Array
    annotator: Array
    value: Array
    bounds: tuple[float, float]

    @classmethod
    def of(cls, answers: Any, bounds: tuple[float, float]) -> "_ItemAnswers":
        table = require_columns(answers, "answers", COLUMNS)
        require_filled(table, "answers", COLUMNS)
        value = finite(table["value"], "answers")
        outside = (value < bounds[0]) | (value > bounds[1])
        if outside.any():
            wrong = first_value(table["value"], outside)
            raise ValueError(f"answers: column 'value' must be {bounds[0]} to {bounds[1]}, got {wrong!r}")
        (item, items), (unit, _), (annotator, _) = (
            pd.factorize(table[column].astype(str), sort=True) for column in COLUMNS[:3]
        )
        return cls(np.asarray(items, dtype=object), item, unit, annotator, value, bounds)

    @cached_property
    def number(self) -> Array:
        """The number of answers about each item."""
        return np.bincount(self.item, minlength=len(self.items))

    @cached_property
    def mean(self) -> Array:
        return ratio(np.bincount(self.item, weights=self.value, minlength=len(self.items)), self.number)

    def distinct(self, codes: Array) -> Array:
        """The number of units or annotators of each item."""
        pairs = np.unique(np.stack([self.item, codes]), axis=1)[0]
        return np.bincount(pairs, minlength=len(self.items))

    def intervals(self, contrasts: Array) -> Intervals:
        """Intervals of linear combinations of the means (contrasts × items)."""
        rows = np.arange(len(self.value))
        scores = csr_array(
            (self.value - self.mean[self.item], (rows, self.item)), shape=(len(rows), len(self.items))
        )
        low, high = self.bounds
        single = (contrasts >= 0).all()
        return influence_intervals(
            contrasts @ self.mean,
            scores,
            contrasts / np.maximum(self.number, 1),
            prompt=self.unit,
            annotator=self.annotator,
            bounds=(low, high) if single else (low - high, high - low),
        )


def _differences(data: _ItemAnswers, compare: str) -> pd.DataFrame:
    items = len(data.items)
    identity = np.eye(items)
    item: Array
    other: Array
    if compare == "others":
        item, other = np.arange(items), np.full(items, -1)
        contrasts = identity - (1 - identity) / max(items - 1, 1)
    else:
        pairs = np.triu_indices(items if compare == "pairs" else 0, 1)
        item, other = np.asarray(pairs[0]), np.asarray(pairs[1])
        contrasts = identity[item] - identity[other]
    interval = data.intervals(contrasts)
    alone = compare == "others" and items < 2
    difference = np.full(items, np.nan) if alone else contrasts @ data.mean
    low, high = (np.full(items, np.nan) if alone else end for end in (interval.low, interval.high))
    reason = np.full(items, ONE_ITEM, dtype=object) if alone else interval.reason
    with np.errstate(invalid="ignore"):
        distinct = (low > 0) | (high < 0)
    return pd.DataFrame(
        {
            "item": labels(data.items[item]),
            "other": words([data.items[code] if code >= 0 else None for code in other]),
            "difference": numbers(difference),
            "ci_low": numbers(low),
            "ci_high": numbers(high),
            "distinct": pd.arrays.BooleanArray(distinct, reason != ""),
            "reason": words(reason),
        }
    )


def _with_wilson(data: _ItemAnswers, interval: Intervals) -> Intervals:
    edge = interval.reason == ZERO_WIDTH
    effect = crossed_design_effects(
        data.value, cell=data.item, cells=len(data.items), unit=data.unit, annotator=data.annotator
    )
    low, high, reason = interval.low.copy(), interval.high.copy(), interval.reason.copy()
    low[edge], high[edge] = wilson(data.mean[edge], data.number[edge] / effect[edge])
    reason[edge] = ""
    return Intervals(low, high, reason, interval.undefined)
