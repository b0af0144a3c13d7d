"""Consensus: the share of units on which enough annotators give the same answer."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.agreement.units import units_of
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.validation import require_whole

ANY = "any"
NO_UNIT_RATED_ENOUGH = "no_unit_rated_enough"


def consensus(ratings: Any, *, raters: int | None = None, unsure: str = "category") -> Result:
    """Consensus: for each t > r/2, the share of units with t or more ratings on which t or more agree, per
    label.

    r is `raters`, the number of ratings a unit was meant to get; by default the most frequent number. Label "any" is
    the share of units on which any label reached t. `ratings` as in `krippendorff_alpha`; Unsure is a separate label.
    Table: model, label, agreeing (t), units_rated (with t or more ratings), units_agreeing, share, reason. Null where
    no unit has t ratings: `no_unit_rated_enough`. Source: the consensus plot of ViSAGe (Jha et al. 2024, fig. 3).

    >>> consensus(np.array([[3, 0], [2, 1], [0, 3]]), raters=3).rows()[0]["share"]  # label 0, t = 2
    0.6666666666666666
    """
    units = units_of(ratings, unsure=unsure)
    number = units.counts.sum(axis=1)
    rated = number[number > 0]
    if raters is None:
        raters = int(np.bincount(rated).argmax()) if len(rated) else 1
    raters = require_whole(raters, "raters", 1)
    parts = []
    for code, model in enumerate(units.model_names):
        in_model = units.model == code
        for agreeing in range(raters // 2 + 1, raters + 1):
            enough = in_model & (number >= agreeing)
            reached = units.counts[enough] >= agreeing
            reached = np.column_stack([reached, reached.any(axis=1)])
            parts.append((model, agreeing, enough.sum(), reached.sum(axis=0)))
    names = [*map(str, units.categories), ANY]
    per = len(names)
    enough_units = np.repeat([part[2] for part in parts], per)
    agreeing_units = np.concatenate([part[3] for part in parts] or [np.empty(0)])
    share = np.divide(
        agreeing_units,
        enough_units,
        out=np.full(len(agreeing_units), np.nan),
        where=enough_units > 0,
        dtype=float,
    )
    table = pd.DataFrame(
        {
            "model": labels(np.repeat([part[0] for part in parts], per)),
            "label": labels(names * len(parts)),
            "agreeing": counts(np.repeat([part[1] for part in parts], per)),
            "units_rated": counts(enough_units),
            "units_agreeing": counts(agreeing_units),
            "share": numbers(share),
            "reason": words(np.where(enough_units > 0, "", NO_UNIT_RATED_ENOUGH)),
        }
    )
    return Result(
        table=table, used=int(number.sum()), method=f"t > {raters}/2 agreeing", notes={"raters": raters}
    )
