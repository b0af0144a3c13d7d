"""Strengths of items that people ranked, several at a time."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from analysis.metrics.data.results import counts, labels
from analysis.metrics.preferences.leaderboard import (
    NO_FINITE_MAXIMUM,
    NOT_CONNECTED,
    Preferences,
    Strengths,
    pair_shares,
)
from analysis.metrics.preferences.plackett_luce import plackett_luce
from analysis.metrics.preferences.rankings import Rankings
from analysis.metrics.resampling.influence import METHOD


def ranking_strengths(rankings: Any) -> Preferences:
    """Strengths of items that were ranked, two to ten at a time, ties allowed.

    `rankings`: one row per ranked item with the columns ranking (the answer), item (name), rank (a number, 1
    is best; equal ranks are a tie), prompt and annotator. Only the order of ranks within a ranking counts.

    strength(i) = log αᵢ, with mean zero over the items, by maximum likelihood of the Plackett–Luce model with ties of
    Turner and others: each place goes to a set C of the remaining items with P(C) = f(C) / Σ f(S), over all sets S of
    remaining items, with f(S) = δ_|S| · (Π_{i∈S} αᵢ)^(1/|S|) and δ₁ = 1. Numbers of tied items that never occur have δ
    = 0. Without ties this is the Plackett–Luce model; for rankings of two items it is Davidson's model. `notes["ties"]`
    has δ by number of tied items; `notes["converged"]` and `notes["steps"]` describe how Newton's method ended.

    `table`: per item `rankings`, `first` (rankings with nothing above it) and the columns of `preference_strengths`
    about strengths and ranks. `pairs`: per pair of items, how often each was above the other (`wins`, `losses`) or tied
    (`ties`), `share` = (wins + ½ ties) / comparisons, and the difference of their strengths.

    Intervals generalise to other prompts and other annotators (`influence_intervals`); null as in
    `jackknife_intervals`: `too_few_annotators` (fewer than three), `zero_width`.

    Missing data: an item without a row in a ranking was not ranked in it. Rankings of a single item are left out
    (`dropped`). Null: `not_connected`, `no_finite_maximum` as in `preference_strengths`.

    Source: Luce 1959; Plackett 1975; Turner, van Etten, Firth & Kosmidis 2020, *Modelling rankings in R: the
    PlackettLuce package*.

    >>> rows = [(1, "a", 1), (1, "b", 2), (2, "a", 1), (2, "b", 2), (3, "b", 1), (3, "a", 2)]
    >>> table = pd.DataFrame(rows, columns=["ranking", "item", "rank"]).assign(prompt="p", annotator="x")
    >>> [round(row["strength"], 4) for row in ranking_strengths(table).rows()]  # ± ½ log 2
    [0.3466, -0.3466]
    """
    data = Rankings.of(rankings)
    wins, ties = data.outcomes()
    fit = plackett_luce(data)
    compared = wins + wins.T + ties
    parts = connected_components(csr_array(compared), directed=False)[0] if len(data) else 1
    strengths = Strengths(
        items=data.items,
        value=fit.strength,
        covariance=fit.covariance,
        scores=fit.scores,
        prompt=data.prompt,
        annotator=data.annotator,
        undefined=NOT_CONNECTED if parts > 1 else "" if fit.converged else NO_FINITE_MAXIMUM,
    )
    appearances = {
        "item": labels(data.items),
        "rankings": counts(np.bincount(data.item, minlength=len(data.items))),
        "first": counts(np.bincount(data.item[data.place == 0], minlength=len(data.items))),
    }
    return Preferences(
        table=pd.DataFrame(appearances | strengths.item_columns()),
        pairs=pd.DataFrame(pair_shares(data.items, compared, wins, ties) | strengths.pair_columns()),
        used=len(data),
        dropped={"single_item": data.single_item},
        method=METHOD,
        notes={
            "ties": {} if strengths.undefined else fit.ties,
            "converged": fit.converged,
            "steps": fit.steps,
        },
    )
