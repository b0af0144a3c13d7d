"""Strengths of items with their intervals and ranks, and the differences between pairs of items."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.resampling.influence import influence_intervals
from analysis.metrics.resampling.intervals import Intervals

NOT_CONNECTED = "not_connected"
NO_FINITE_MAXIMUM = "no_finite_maximum"
NOT_COMPARED = "not_compared"


@dataclass(frozen=True, eq=False, kw_only=True)
class Preferences(Result):
    """`table`: one row per item. `pairs`: one row per pair of items, with their difference."""

    pairs: pd.DataFrame


@dataclass(frozen=True, eq=False, kw_only=True)
class Strengths:
    """Log strengths of items by maximum likelihood, and the data for their intervals.

    `covariance` is the inverse of the information (parameters, square), the strengths' rows first; `scores` the
    gradient of each answer's log likelihood (answers × parameters); `prompt` and `annotator` have one code from 0 per
    answer. If there are no strengths, `undefined` states the reason.
    """

    items: NDArray[Any]
    value: NDArray[Any]
    covariance: NDArray[Any]
    scores: csr_array
    prompt: NDArray[Any]
    annotator: NDArray[Any]
    undefined: str

    def intervals(self, contrasts: NDArray[Any]) -> Intervals:
        """Intervals of linear combinations of strengths (contrasts × items)."""
        if self.undefined:
            nulls = np.full(len(contrasts), np.nan)
            reason = np.full(len(contrasts), self.undefined, dtype=object)
            return Intervals(nulls, nulls, reason, np.zeros(len(contrasts), dtype=int))
        items = len(self.items)
        covariance = self.covariance[:items]
        if items:
            covariance = covariance - covariance.mean(axis=0)
        return influence_intervals(
            contrasts @ self.value,
            self.scores,
            contrasts @ covariance,
            prompt=self.prompt,
            annotator=self.annotator,
        )

    @property
    def pairs(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Codes of the two items of each pair."""
        item, other = np.triu_indices(len(self.items), 1)
        return item, other

    @cached_property
    def differences(self) -> Intervals:
        """Intervals of strength(item) − strength(other) of each pair."""
        item, other = self.pairs
        identity = np.eye(len(self.items))
        return self.intervals(identity[item] - identity[other])

    def pair_columns(self) -> dict[str, Any]:
        """The difference of each pair, and whether its interval excludes 0."""
        item, other = self.pairs
        interval = self.differences
        difference = self.value[item] - self.value[other]
        with np.errstate(invalid="ignore"):
            distinct = (interval.low > 0) | (interval.high < 0)
        return {
            "difference": numbers(np.full(len(item), np.nan) if self.undefined else difference),
            "ci_low": numbers(interval.low),
            "ci_high": numbers(interval.high),
            "distinct": pd.arrays.BooleanArray(distinct, interval.reason != ""),
            "reason": words(interval.reason),
        }

    def item_columns(self) -> dict[str, Any]:
        """Each item's strength and rank, and its range of possible ranks, given the items that are distinctly stronger
        and distinctly weaker."""
        items = len(self.items)
        interval = self.intervals(np.eye(items))
        item, other = self.pairs
        with np.errstate(invalid="ignore"):
            wins, losses = self.differences.low > 0, self.differences.high < 0
        winners = np.concatenate([item[wins], other[losses]])
        losers = np.concatenate([other[wins], item[losses]])
        stronger = np.bincount(losers, minlength=items)
        weaker = np.bincount(winners, minlength=items)
        return {
            "strength": numbers(np.full(items, np.nan) if self.undefined else self.value),
            "ci_low": numbers(interval.low),
            "ci_high": numbers(interval.high),
            "rank": counts(_ranks(self.value), not self.undefined),
            "rank_low": counts(1 + stronger, interval.reason == ""),
            "rank_high": counts(items - weaker, interval.reason == ""),
            "reason": words(interval.reason),
        }


def pair_shares(
    items: NDArray[Any], compared: NDArray[Any], won: NDArray[Any], tied: NDArray[Any]
) -> dict[str, Any]:
    """For each pair of items (square counts): their names, and the share of comparisons that the first won, with ties
    as half."""
    item, other = np.triu_indices(len(items), 1)
    with np.errstate(invalid="ignore"):
        share = (won[item, other] + tied[item, other] / 2) / compared[item, other]
    return {
        "item": labels(items[item]),
        "other": labels(items[other]),
        "comparisons": counts(compared[item, other]),
        "wins": counts(won[item, other]),
        "losses": counts(won[other, item]),
        "ties": counts(tied[item, other]),
        "share": numbers(share),
        "share_reason": words(np.where(compared[item, other] == 0, NOT_COMPARED, "")),
    }


def _ranks(strength: NDArray[Any]) -> NDArray[Any]:
    """1 for the largest; equal strengths share the smallest of their ranks."""
    ranks: NDArray[Any] = 1 + (strength[:, None] < strength - 1e-9).sum(axis=1)
    return ranks
