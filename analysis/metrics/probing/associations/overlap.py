"""The significant associations that two models, or two settings, have in common."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array, ratio
from analysis.metrics.data.results import Result, counts, numbers, words
from analysis.metrics.data.validation import require_choice, require_columns, require_filled, require_whole
from analysis.metrics.resampling.intervals import no_intervals, percentile_intervals

COMPARED = ("model", "setting")
NONE_SIGNIFICANT = "none_significant"
METHOD = "percentile interval, descriptors resampled"


def association_overlap(
    associations: Any,
    *,
    compare: str = "model",
    significant: str = "significant",
    resamples: int = 2000,
    seed: int = 0,
) -> Result:
    """Jaccard index and overlap coefficient of the significant pairs of two models or settings.

    `associations`: rows of `tfidf_associations` (significant or not), with model, setting, descriptor, word and the
    column named by `significant`. For each pair of values of `compare` (with the same setting, or the same model), over
    the descriptors that both were asked about, that is, with a row in both: A and B are their sets of significant
    (descriptor, word). `jaccard` = |A∩B|/|A∪B|, `coefficient` = |A∩B|/min(|A|,|B|). A pair in several dimensions counts
    once.

    Interval: percentile, 95 %, over `resamples` draws of descriptors. Null: `none_significant` if A or B is empty
    (jaccard: if both are empty); the interval also `zero_width` and `no_resamples`. `dropped["lone_descriptors"]`:
    descriptors of only one side, over all rows.

    Source: Raj et al. 2024; Jaccard 1912; Szymkiewicz 1934; Efron & Tibshirani 1993.
    """
    require_choice(compare, "compare", COMPARED)
    resamples = require_whole(resamples, "resamples", 0)
    seed = require_whole(seed, "seed", 0)
    columns = ["model", "setting", "descriptor", "word"]
    table = require_columns(associations, "associations", [*columns, significant])
    require_filled(table, "associations", columns)
    frame = table[columns].astype(str).astype(object)
    frame["_significant"] = table[significant].fillna(False).astype(bool).to_numpy()
    frame = frame.drop_duplicates(columns)
    within = "setting" if compare == "model" else "model"
    rows: list[dict[str, Any]] = []
    lone = 0
    for name, part in frame.groupby(within, sort=True):
        for number, (one, other) in enumerate(combinations(sorted(part[compare].unique()), 2)):
            shared = _shared(part, compare, one, other)
            lone += shared.lone
            rows += _measures(
                shared, resamples, (seed, number), {within: name, compare: one, f"other_{compare}": other}
            )
    names = (within, compare, f"other_{compare}", "measure", "reason")
    return Result(
        table=pd.DataFrame(
            {
                **{key: words([row[key] for row in rows]) for key in names[:4]},
                "descriptors": counts([row["descriptors"] for row in rows]),
                "pairs": counts([row["pairs"] for row in rows]),
                "other_pairs": counts([row["other_pairs"] for row in rows]),
                "shared_pairs": counts([row["shared_pairs"] for row in rows]),
                **{key: numbers([row[key] for row in rows]) for key in ("value", "ci_low", "ci_high")},
                "reason": words([row["reason"] for row in rows]),
            }
        ),
        used=int(frame["_significant"].sum()),
        dropped={"lone_descriptors": lone},
        method=METHOD,
        seed=seed,
        resamples=resamples,
    )


@dataclass(frozen=True, eq=False)
class _Shared:
    """Per descriptor of both sides: significant pairs of each side and of both. Also the descriptors of one side."""

    one: Array
    other: Array
    both: Array
    lone: int


def _shared(part: pd.DataFrame, compare: str, one: str, other: str) -> _Shared:
    sides = [part[part[compare] == value] for value in (one, other)]
    asked = [set(side["descriptor"]) for side in sides]
    common = sorted(asked[0] & asked[1])
    chosen = [
        side[side["_significant"] & side["descriptor"].isin(common)].set_index(["descriptor", "word"]).index
        for side in sides
    ]
    one_side, other_side, both = (
        pd.Series(index.get_level_values(0)).value_counts().reindex(common, fill_value=0).to_numpy()
        for index in (*chosen, chosen[0].intersection(chosen[1]))
    )
    return _Shared(one_side, other_side, both, len(asked[0] ^ asked[1]))


def _measures(
    shared: _Shared, resamples: int, key: tuple[int, int], name: dict[str, Any]
) -> list[dict[str, Any]]:
    generator = np.random.default_rng(np.random.SeedSequence(key[0], spawn_key=(11, key[1])))
    n = len(shared.one)
    weights = (
        generator.multinomial(n, np.full(n, 1 / n), size=resamples) if n and resamples else np.zeros((0, n))
    )
    totals = [float(values.sum()) for values in (shared.one, shared.other, shared.both)]
    drawn = [weights @ values for values in (shared.one, shared.other, shared.both)]
    rows = []
    for measure, of in (("jaccard", _jaccard), ("coefficient", _coefficient)):
        value = of(*(np.array([total]) for total in totals))
        interval = percentile_intervals(of(*drawn)[None, :]) if len(weights) else no_intervals(1)
        reason = NONE_SIGNIFICANT if np.isnan(value[0]) else str(interval.reason[0])
        rows.append(
            {
                **name,
                "measure": measure,
                "descriptors": n,
                "pairs": totals[0],
                "other_pairs": totals[1],
                "shared_pairs": totals[2],
                "value": value[0],
                "ci_low": np.nan if reason == NONE_SIGNIFICANT else interval.low[0],
                "ci_high": np.nan if reason == NONE_SIGNIFICANT else interval.high[0],
                "reason": reason,
            }
        )
    return rows


def _jaccard(one: Array, other: Array, both: Array) -> Array:
    return ratio(both, one + other - both)


def _coefficient(one: Array, other: Array, both: Array) -> Array:
    return ratio(both, np.minimum(one, other))
