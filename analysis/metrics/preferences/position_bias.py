"""How often the item shown first is preferred."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from analysis.metrics.data.results import Result, counts, numbers, words
from analysis.metrics.preferences.comparisons import Comparisons
from analysis.metrics.resampling.influence import METHOD, influence_intervals

NOTHING_DECIDED = "nothing_decided"


def position_bias(comparisons: Any) -> Result:
    """The share of decided comparisons in which the item shown first was preferred.

    share = first / (first + second); ties are left out and counted in `dropped`. If every pair is shown equally often
    in both orders, 0.5 means that position does not matter. `comparisons` as in `preference_strengths`.

    The interval generalises to other prompts and other annotators, as in `preference_strengths`. Null:
    `nothing_decided`.

    Source: Zheng et al. 2023, *Judging LLM-as-a-judge with MT-Bench and Chatbot Arena*, on position bias.
    """
    data = Comparisons.of(comparisons)
    first, second, ties = np.bincount(data.answer, minlength=3).tolist()
    decided = first + second
    share = np.array([first / decided if decided else np.nan])
    rows = np.flatnonzero(data.answer != 2)
    distance = (data.preferred[rows] - share, (rows, np.zeros_like(rows)))
    interval = influence_intervals(
        share,
        csr_array(distance, shape=(len(data), 1)),
        np.array([[1 / max(decided, 1)]]),
        prompt=data.prompt,
        annotator=data.annotator,
        bounds=(0.0, 1.0),
    )
    table = pd.DataFrame(
        {
            "first": counts([first]),
            "second": counts([second]),
            "share": numbers(share),
            "ci_low": numbers(interval.low),
            "ci_high": numbers(interval.high),
            "reason": words(interval.reason if decided else [NOTHING_DECIDED]),
        }
    )
    return Result(table=table, used=decided, dropped={"tie": ties}, method=METHOD)
