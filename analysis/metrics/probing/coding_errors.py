"""How often rules code answers differently from people, from a review of sure and of unsure codings."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.validation import require_columns, require_filled
from analysis.metrics.resampling.intervals import wilson

ALL = "all"
NONE_REVIEWED = "none_reviewed"
MEASURES = ("error_rate", "reversal_rate")
METHOD = "Wilson in each stratum with finite population correction, combined by MOVER"
_OPPOSITES = ({"plus", "minus"},)


def coding_errors(reviewed: Any, sizes: Mapping[str, int]) -> Result:
    """How often rules code an answer differently from people, weighted by stratum.

    `reviewed`: one row per answer that people decided, with the columns stratum, rules, people (outcomes). `sizes`: the
    number of answers in each stratum, reviewed or not.

    - `error_rate`: share of answers for which the rules' outcome is not people's outcome;
    - `reversal_rate`: share of answers that rules code as plus and people as minus, or the other way round.

    Per stratum h: p_h = k_h/n_h. Over all: p = Σ W_h·p_h with W_h = N_h/ΣN. Interval, 95 %: Wilson on n_h·(N_h −
    1)/(N_h − n_h) answers, with zero width if all were reviewed; over all p ± √Σ W_h²·(p_h − limit_h)² (MOVER). Missing
    data: strata without answers are left out. Null: `none_reviewed`, for a stratum and, because its errors are unknown,
    over all. Raises ValueError for a missing column, an empty cell, a stratum without a size, or more reviewed answers
    than answers.

    Source: Cochran 1977, §5.3; Zou & Donner 2008.

    >>> reviewed = pd.DataFrame({"stratum": ["unsure"] * 2, "rules": ["plus"] * 2, "people": ["plus", "both"]})
    >>> coding_errors(reviewed, {"unsure": 2}).rows()[0]["value"]
    0.5
    """
    columns = ["stratum", "rules", "people"]
    table = require_columns(reviewed, "reviewed", columns)
    require_filled(table, "reviewed", columns)
    table = table[columns].astype(str)
    if strange := sorted(set(table["stratum"]) - set(sizes)):
        raise ValueError(f"sizes: the size of stratum {strange[0]!r} is missing")
    strata = [name for name, size in sizes.items() if size]
    size = np.array([sizes[name] for name in strata], dtype=float)
    number = np.array([(table["stratum"] == name).sum() for name in strata], dtype=float)
    if (number > size).any():
        raise ValueError("sizes: a stratum has more reviewed answers than its size")
    wrong = table["rules"] != table["people"]
    opposite = [
        {rules, people} in _OPPOSITES for rules, people in zip(table["rules"], table["people"], strict=True)
    ]
    rows = []
    for measure, is_error in zip(
        MEASURES, (wrong, pd.Series(opposite, index=table.index, dtype=bool)), strict=True
    ):
        errors = np.array([is_error[table["stratum"] == name].sum() for name in strata], dtype=float)
        rows += _rows(measure, strata, errors, number, size)
    frame = pd.DataFrame(
        rows, columns=["measure", "stratum", "value", "low", "high", "errors", "reviewed", "answers"]
    )
    return Result(
        table=pd.DataFrame(
            {
                "measure": labels(frame["measure"]),
                "stratum": labels(frame["stratum"]),
                "value": numbers(frame["value"]),
                "ci_low": numbers(frame["low"]),
                "ci_high": numbers(frame["high"]),
                "errors": counts(frame["errors"]),
                "reviewed": counts(frame["reviewed"]),
                "answers": counts(frame["answers"]),
                "reason": words([NONE_REVIEWED if np.isnan(value) else "" for value in frame["value"]]),
            }
        ),
        used=len(table),
        method=METHOD,
    )


def _rows(
    measure: str, strata: list[str], errors: Array, number: Array, size: Array
) -> list[tuple[Any, ...]]:
    """Return the row over all strata, then one for each."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = errors / number
        trials = number * (size - 1) / (size - number)
    low, high = wilson(share, np.where(np.isfinite(trials) & (trials > 0), trials, np.maximum(number, 1)))
    complete = number == size
    low, high = np.where(complete, share, low), np.where(complete, share, high)
    weight = size / size.sum() if len(size) else size
    value = float(weight @ share) if len(size) else np.nan
    below = np.sqrt((weight**2 * (share - low) ** 2).sum())
    above = np.sqrt((weight**2 * (high - share) ** 2).sum())
    total = (
        measure,
        ALL,
        value,
        max(value - below, 0),
        min(value + above, 1),
        errors.sum(),
        number.sum(),
        size.sum(),
    )
    each = zip(strata, share, low, high, errors, number, size, strict=True)
    return [total, *((measure, *row) for row in each)]
