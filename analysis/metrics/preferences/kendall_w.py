"""Kendall's coefficient of concordance: how similarly annotators rank items."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.metrics.data.arrays import ratio
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.preferences.rankings import MOST_RANKED, Rankings
from analysis.metrics.resampling.unit_means import METHOD, UnitCells

NO_SET_RANKED_TWICE = "no_set_ranked_twice"
NO_ORDER = "no_order"
RANKED_ONCE = "ranked_once"
MEASURES = {"kendall_w": (0.0, 1.0), "mean_spearman": (-1.0, 1.0)}


@dataclass(frozen=True, eq=False, kw_only=True)
class RankingConcordance(Result):
    """`table`: one row per measure. `sets`: one row per set of items that were ranked together."""

    sets: pd.DataFrame


def kendall_w(rankings: Any) -> RankingConcordance:
    """Kendall's coefficient of concordance W, corrected for ties, averaged over sets of items.

    `rankings` as in `ranking_strengths`. A *set* is the items that were ranked together: the same items for the same
    prompt. For a set with n items and m rankings, with R the sum of an item's ranks (tied items share the mean of their
    ranks) and t the numbers of items tied in a ranking,

        W = 12 Σ(R − mean R)² / (m²(n³ − n) − m Σ(t³ − t)), from 0 to 1.

    Random rankings have a mean W of 1/m, so W cannot be compared between sets with different m. `mean_spearman` = (mW −
    1)/(m − 1) can, and is 0 on average for random rankings. Without ties it is the mean of Spearman's correlations of
    all pairs of rankings; with ties, their mean covariance over their mean variance. Both are averages over sets with
    equal weight.

    Incomplete designs: a ranking of only some of the items belongs to another set, so nothing is imputed. Sets ranked
    once are left out (`ranked_once`), as are sets in which every ranking ties all items (`no_order`). If one annotator
    ranks a set several times, all rankings count. Null: `no_set_ranked_twice`, `no_order`.

    Interval: two-way jackknife of annotators and prompts (`jackknife_intervals`). It leaves an annotator out of ρ and
    keeps m, which is part of the design; null: `too_few_annotators` (fewer than three), `too_sparse`, `zero_width`.

    Source: Kendall & Babington Smith 1939; Kendall 1945 (ties); Legendre 2005.

    >>> rows = [(1, "a", 1), (1, "b", 2), (1, "c", 3), (2, "a", 1), (2, "b", 3), (2, "c", 2)]
    >>> table = pd.DataFrame(rows, columns=["ranking", "item", "rank"])
    >>> kendall_w(table.assign(prompt="p", annotator=table["ranking"])).rows()[0]["value"]
    0.75
    """
    data = _RankedSets.of(Rankings.of(rankings))
    number = data.sums.rankings
    usable = ~np.isnan(data.sums.correlation)
    reason = "" if usable.any() else NO_ORDER if (number > 1).any() else NO_SET_RANKED_TWICE
    return RankingConcordance(
        table=data.table(usable, reason),
        sets=data.to_frame(),
        used=int(number[usable].sum()),
        dropped={
            "single_item": data.single_item,
            RANKED_ONCE: int((number == 1).sum()),
            NO_ORDER: int((~usable & (number > 1)).sum()),
        },
        method=METHOD.format(clusters="prompts"),
    )


@dataclass(frozen=True, eq=False)
class _RankSums:
    """Sums over the rankings of each set: their number, the ranks of each item and the squared ranks of all.

    Ranks are centred on the middle of the set; `ranks` has a column for each item of a set (sets × 10).
    """

    rankings: NDArray[Any]
    ranks: NDArray[Any]
    squares: NDArray[Any]

    @property
    def correlation(self) -> NDArray[Any]:
        """(mW − 1)/(m − 1), where W = Σ ranks² / (m · squares); NaN where undefined."""
        return ratio((self.ranks**2).sum(axis=1) - self.squares, (self.rankings - 1) * self.squares)


@dataclass(frozen=True, eq=False)
class _RankedSets:
    """Sets of items that were ranked together. A *cell* is one annotator's rankings of one set; `without` are the sums
    of the cell's set without the cell."""

    prompt: NDArray[Any]
    prompt_name: NDArray[Any]
    items: NDArray[Any]
    sums: _RankSums
    cell_set: NDArray[Any]
    cell_annotator: NDArray[Any]
    without: _RankSums
    single_item: int

    @classmethod
    def of(cls, data: Rankings) -> "_RankedSets":
        order = np.lexsort((data.item, data.ranking))
        column = np.arange(len(order)) - data.start[data.ranking]
        members = np.full((len(data), MOST_RANKED), -1)
        members[data.ranking, column] = data.item[order]
        _, first, owner = np.unique(
            np.column_stack([data.prompt, members]), axis=0, return_index=True, return_inverse=True
        )
        owner = owner.ravel()
        middle = (data.size[data.ranking] - 1) / 2
        ranks = np.zeros(members.shape)
        ranks[data.ranking, column] = (data.place + (data.tied - 1) / 2 - middle)[order]
        cells, cell = np.unique(owner * max(data.annotators, 1) + data.annotator, return_inverse=True)
        cell_set = cells // max(data.annotators, 1)
        sets, parts = _summed(ranks, owner, len(first)), _summed(ranks, cell, len(cells))
        return cls(
            prompt=data.prompt[first],
            prompt_name=data.prompt_names[data.prompt[first]],
            items=data.size[first],
            sums=sets,
            cell_set=cell_set,
            cell_annotator=cells % max(data.annotators, 1),
            without=_RankSums(
                sets.rankings[cell_set] - parts.rankings,
                sets.ranks[cell_set] - parts.ranks,
                sets.squares[cell_set] - parts.squares,
            ),
            single_item=data.single_item,
        )

    def table(self, usable: NDArray[Any], reason: str) -> pd.DataFrame:
        """The mean of each measure over the usable sets, with its interval."""
        cells = usable[self.cell_set]
        units = UnitCells(
            cluster=self.prompt[usable],
            unit=(np.cumsum(usable) - 1)[self.cell_set[cells]],
            annotator=self.cell_annotator[cells],
        )
        means, intervals = [], []
        for measure, bounds in MEASURES.items():
            scale = self._scale(measure)
            value = (1 - scale * (1 - self.sums.correlation))[usable]
            without = 1 - scale[self.cell_set] * (1 - self.without.correlation)
            means.append(ratio(value.sum(), len(value)))
            intervals.append(units.intervals(value, without[cells], bounds=bounds))
        repeated = len(MEASURES)
        return pd.DataFrame(
            {
                "measure": labels(MEASURES),
                "value": numbers(means),
                "ci_low": numbers([interval.low[0] for interval in intervals]),
                "ci_high": numbers([interval.high[0] for interval in intervals]),
                "sets": counts([usable.sum()] * repeated),
                "rankings": counts([self.sums.rankings[usable].sum()] * repeated),
                "annotators": counts([len(np.unique(units.annotator))] * repeated),
                "reason": words([reason or interval.reason[0] for interval in intervals]),
            }
        )

    def to_frame(self) -> pd.DataFrame:
        correlation = self.sums.correlation
        undefined = np.where(self.sums.rankings > 1, NO_ORDER, RANKED_ONCE)
        return pd.DataFrame(
            {
                "prompt": labels(self.prompt_name),
                "items": counts(self.items),
                "rankings": counts(self.sums.rankings),
                "kendall_w": numbers(1 - self._scale("kendall_w") * (1 - correlation)),
                "mean_spearman": numbers(correlation),
                "reason": words(np.where(np.isnan(correlation), undefined, "")),
            }
        )

    def _scale(self, measure: str) -> NDArray[Any]:
        """A measure is 1 − scale · (1 − ρ): for W = (1 + (m − 1)ρ)/m the scale is (m − 1)/m."""
        number = self.sums.rankings
        return (number - 1) / number if measure == "kendall_w" else np.ones(len(number))


def _summed(ranks: NDArray[Any], owner: NDArray[Any], owners: int) -> _RankSums:
    total = np.zeros((owners, ranks.shape[1]))
    np.add.at(total, owner, ranks)
    squares = np.bincount(owner, weights=(ranks**2).sum(axis=1), minlength=owners)
    return _RankSums(np.bincount(owner, minlength=owners), total, squares)
