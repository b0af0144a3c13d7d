"""Agreement of a judge's ratings with people's, on pairs rated by both."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.validation import (
    finite,
    first_value,
    require_columns,
    require_filled,
    require_whole,
)
from analysis.metrics.resampling.intervals import no_intervals, percentile_intervals

LEVELS = 5
NO_VARIATION = "no_variation"
NO_PAIR_RATED_TWICE = "no_pair_rated_twice"
NO_SHARED_PAIRS = "no_shared_pairs"
MEASURES = ("people_alpha", "judge_alpha", "exact", "within_one", "mean_difference")
METHOD = "percentile interval, pairs resampled"


def judge_agreement(people: Any, judge: Any, *, resamples: int = 2000, seed: int = 0) -> Result:
    """Agreement of people's bias levels with each other and with a judge's.

    `people`: one row per rating with the columns pair, annotator, rating (1 … 5); `judge`: pair, rating; several
    ratings of a pair by the judge count as their median (the lower of two middle ones). Over the pairs rated by both:

    - `people_alpha`: Krippendorff's ordinal α among people;
    - `judge_alpha`: ordinal α with the judge in place of one person: the mean of the α values when the judge replaces
      the first person of every pair, the second, … (people in the order of their names; in a pair with fewer people the
      last one is replaced); compare it with `people_alpha`;
    - `exact`, `within_one`: share of pairs on which the judge gives the people's median, or differs from it by at most
      one level (a median between two levels is within one of both, and exact with neither);
    - `mean_difference`: mean of judge − median, in levels: positive if the judge is stricter.

    Interval: percentile, 95 %, over `resamples` draws of pairs. Missing data: pairs rated by one side only are counted
    in `dropped`; pairs rated once are excluded from α. Null: `no_shared_pairs`, `no_pair_rated_twice`, `no_variation`,
    and those of a percentile interval. Raises ValueError for a missing column, an empty cell, a rating that is not one
    of the five, or an annotator who rated a pair twice.

    Source: Krippendorff 2011; Calderon et al. 2025, *The alternative annotator test* (a judge in place of a person).
    """
    resamples = require_whole(resamples, "resamples", 0)
    seed = require_whole(seed, "seed", 0)
    rated = _ratings(people, "people", ["pair", "annotator", "rating"])
    twice = rated.duplicated(["pair", "annotator"]).to_numpy()
    if twice.any():
        raise ValueError(
            f"people: pair {first_value(rated['pair'], twice)!r} is rated twice by one annotator"
        )
    judged = _ratings(judge, "judge", ["pair", "rating"])
    level = judged.groupby("pair")["rating"].agg(lambda values: sorted(values)[(len(values) - 1) // 2])
    shared = sorted(set(rated["pair"]) & set(level.index))
    kept = rated[rated["pair"].isin(shared)].sort_values(["pair", "annotator"])
    estimates = _Estimates.of(kept, level.reindex(shared), shared)
    generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(12,)))
    n = len(shared)
    weights = (
        generator.multinomial(n, np.full(n, 1 / n), size=resamples) if n and resamples else np.zeros((0, n))
    )
    value = estimates.of_weights(np.ones((1, n)))[:, 0]
    interval = (
        percentile_intervals(estimates.of_weights(weights)) if len(weights) else no_intervals(len(MEASURES))
    )
    reason = interval.reason
    for place, name in enumerate(MEASURES):
        if np.isnan(value[place]):
            twice_rated = bool(estimates.is_rated_twice.any())
            reason[place] = NO_VARIATION if twice_rated else NO_PAIR_RATED_TWICE
            reason[place] = reason[place] if n and name.endswith("alpha") else NO_SHARED_PAIRS
    return Result(
        table=pd.DataFrame(
            {
                "measure": labels(MEASURES),
                "value": numbers(value),
                "ci_low": numbers(interval.low),
                "ci_high": numbers(interval.high),
                "pairs": counts([n] * len(MEASURES)),
                "annotators": counts([kept["annotator"].nunique()] * len(MEASURES)),
                "ratings": counts([len(kept)] * len(MEASURES)),
                "reason": words(reason),
            }
        ),
        used=len(kept),
        dropped={
            "not_judged": len(set(rated["pair"]) - set(shared)),
            "judged_only": len(set(level.index) - set(shared)),
        },
        method=METHOD,
        seed=seed,
        resamples=resamples,
    )


class _Estimates:
    """The contribution of each pair to each measure, so that a draw of pairs is a product."""

    def __init__(self, coincidences: list[Array], difference: Array, is_rated_twice: Array) -> None:
        self.coincidences, self.difference, self.is_rated_twice = coincidences, difference, is_rated_twice

    @classmethod
    def of(cls, kept: pd.DataFrame, level: pd.Series, shared: list[str]) -> "_Estimates":
        pairs = pd.Series(range(len(shared)), index=shared)
        pair = pairs.reindex(kept["pair"]).to_numpy(dtype=int)
        rating = kept["rating"].to_numpy(dtype=int)
        size = np.bincount(pair, minlength=len(shared))
        place = np.arange(len(pair)) - (np.cumsum(size) - size)[pair]
        judged = level.to_numpy(dtype=float).astype(int) if len(shared) else np.empty(0, dtype=int)
        tables = [_coincidences(pair, rating, len(shared))]
        for turn in range(int(size.max(initial=0))):
            replaced = place == np.minimum(turn, size[pair] - 1)
            tables.append(_coincidences(pair, np.where(replaced, judged[pair], rating), len(shared)))
        median = kept.groupby("pair")["rating"].median().reindex(shared).to_numpy(dtype=float)
        return cls(tables, judged - median, size > 1)

    def of_weights(self, weights: Array) -> Array:
        """The measures under weights of pairs: measures × draws."""
        people, *turns = (_ordinal_alpha(weights @ table) for table in self.coincidences)
        in_place = np.mean(turns, axis=0) if turns else np.full(len(weights), np.nan)
        total = weights.sum(axis=1)
        distance = np.abs(self.difference)
        sums = [weights @ values for values in (distance == 0, distance <= 1, self.difference)]
        with np.errstate(invalid="ignore"):
            return np.stack(
                [
                    people,
                    in_place,
                    *(np.where(total > 0, each, np.nan) / np.where(total > 0, total, 1) for each in sums),
                ]
            )


def _coincidences(pair: Array, rating: Array, pairs: int) -> Array:
    """Per pair, its 25 coincidences of two different people's ratings, divided by n − 1."""
    number = np.zeros((pairs, LEVELS))
    np.add.at(number, (pair, rating - 1), 1)
    size = number.sum(axis=1)
    both = number[:, :, None] * number[:, None, :]
    both[:, np.arange(LEVELS), np.arange(LEVELS)] -= number
    both /= np.maximum(size - 1, 1)[:, None, None]
    return np.asarray(both.reshape(pairs, LEVELS * LEVELS))


def _ordinal_alpha(coincidences: Array) -> Array:
    """1 − D_o/D_e with the ordinal distance, per row of 25 coincidences; NaN if nothing varies."""
    table = coincidences.reshape(-1, LEVELS, LEVELS)
    number = table.sum(axis=2)
    total = number.sum(axis=1)
    # Ratings below a level plus half of the ratings at the level.
    upto = np.cumsum(number, axis=1) - number / 2
    distance = (upto[:, :, None] - upto[:, None, :]) ** 2
    observed = (table * distance).sum(axis=(1, 2))
    expected = (number[:, :, None] * number[:, None, :] * distance).sum(axis=(1, 2))
    alpha = np.full(len(table), np.nan)
    np.divide(observed * (total - 1), expected, out=alpha, where=expected > 1e-9)
    return np.asarray(1 - alpha)


def _ratings(ratings: Any, argument: str, columns: list[str]) -> pd.DataFrame:
    table = require_columns(ratings, argument, columns)
    require_filled(table, argument, columns)
    value = finite(table["rating"], argument)
    wrong = ~np.isin(value, range(1, LEVELS + 1))
    if wrong.any():
        got = first_value(table["rating"], wrong)
        raise ValueError(f"{argument}: column 'rating' must be 1 to {LEVELS}, got {got!r}")
    names = {name: table[name].astype(str).to_numpy(dtype=object) for name in columns if name != "rating"}
    return pd.DataFrame({**names, "rating": value.astype(int)})
