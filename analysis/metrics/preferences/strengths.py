"""Win rates and strengths of items that people compared in pairs."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from analysis.metrics.data.results import counts, labels, numbers, words
from analysis.metrics.preferences.comparisons import Comparisons
from analysis.metrics.preferences.davidson import Fit, davidson
from analysis.metrics.preferences.leaderboard import (
    NO_FINITE_MAXIMUM,
    NOT_CONNECTED,
    Preferences,
    Strengths,
    pair_shares,
)
from analysis.metrics.resampling.influence import METHOD, influence_intervals


def preference_strengths(comparisons: Any) -> Preferences:
    """Win rates and strengths of items that were compared in pairs, ties allowed.

    `comparisons`: one row per comparison with the columns first, second (names of items, in the order shown),
    answer (first, second or tie), prompt and annotator.

    win_rate(i) = (wins + ½ ties) / comparisons of i. strength(i) = log πᵢ, with mean zero over the items, by maximum
    likelihood of Davidson's model: P(i over j) = πᵢ/D, P(tie) = ν√(πᵢπⱼ)/D, D = πᵢ + πⱼ + ν√(πᵢπⱼ); without ties this
    is the Bradley–Terry model. `notes["tie"]` is ν. In `pairs`, `difference` is strength(item) − strength(other), and
    `distinct` is true if its 95 % interval excludes 0. `rank` is 1 for the largest strength; rank_low is 1 + the number
    of distinctly stronger items, rank_high the number of items minus the distinctly weaker ones.

    Intervals generalise to other prompts and other annotators (`influence_intervals`); null as in
    `jackknife_intervals`: `too_few_annotators` (fewer than three), `zero_width`.

    Null: strengths are `not_connected` if some items were never compared with the others, not even through third items;
    `no_finite_maximum` if an item was always or never preferred, or if all answers are ties.

    Source: Bradley & Terry 1952; Davidson 1970.
    """
    data = Comparisons.of(comparisons)
    wins, ties = data.outcomes()
    fit = davidson(wins, ties)
    parts = connected_components(csr_array(wins + ties), directed=False)[0] if len(data) else 1
    strengths = Strengths(
        items=data.items,
        value=fit.strength,
        covariance=fit.covariance,
        scores=_strength_scores(data, fit),
        prompt=data.prompt,
        annotator=data.annotator,
        undefined=NOT_CONNECTED if parts > 1 else "" if fit.converged else NO_FINITE_MAXIMUM,
    )
    pairs = pair_shares(data.items, wins + wins.T + ties, wins, ties)
    return Preferences(
        table=pd.DataFrame(_win_rates(data, wins, ties) | strengths.item_columns()),
        pairs=pd.DataFrame(pairs | strengths.pair_columns()),
        used=len(data),
        method=METHOD,
        notes={"tie": None if strengths.undefined else float(np.exp(fit.tie))},
    )


def _win_rates(data: Comparisons, wins: NDArray[Any], ties: NDArray[Any]) -> dict[str, Any]:
    compared = wins.sum(axis=1) + wins.sum(axis=0) + ties.sum(axis=1)
    win_rate = (wins.sum(axis=1) + ties.sum(axis=1) / 2) / compared
    rates = influence_intervals(
        win_rate,
        _rate_scores(data, win_rate),
        np.diag(1 / compared),
        prompt=data.prompt,
        annotator=data.annotator,
        bounds=(0.0, 1.0),
    )
    return {
        "item": labels(data.items),
        "comparisons": counts(compared),
        "wins": counts(wins.sum(axis=1)),
        "losses": counts(wins.sum(axis=0)),
        "ties": counts(ties.sum(axis=1)),
        "win_rate": numbers(win_rate),
        "win_rate_low": numbers(rates.low),
        "win_rate_high": numbers(rates.high),
        "win_rate_reason": words(rates.reason),
    }


def _strength_scores(data: Comparisons, fit: Fit) -> csr_array:
    """The gradient of each answer's log likelihood (answers × items + 1)."""
    win, tied = fit.win[data.first, data.second], fit.tied[data.first, data.second]
    surprise = data.preferred - win - tied / 2
    of_tie = (data.answer == 2) - tied
    return _scores(data, (data.first, surprise), (data.second, -surprise), (len(data.items), of_tie))


def _rate_scores(data: Comparisons, win_rate: NDArray[Any]) -> csr_array:
    """The difference of each answer from the win rates of its two items (answers × items)."""
    shown_first = (data.first, data.preferred - win_rate[data.first])
    shown_second = (data.second, 1 - data.preferred - win_rate[data.second])
    return _scores(data, shown_first, shown_second)


def _scores(data: Comparisons, *columns_and_values: tuple[Any, NDArray[Any]]) -> csr_array:
    rows = np.arange(len(data))
    columns = [np.broadcast_to(column, len(data)) for column, _ in columns_and_values]
    width = len(data.items) + (len(columns) > 2)
    return coo_array(
        (
            np.concatenate([values for _, values in columns_and_values]),
            (np.tile(rows, len(columns)), np.concatenate(columns)),
        ),
        shape=(len(data), width),
    ).tocsr()
