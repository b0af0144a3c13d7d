"""L(a, g): how often an attribute is marked in a group's images."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.roles import RANDOM, STEREOTYPE, stereotype_cells
from analysis.metrics.resampling.bootstrap import DEFAULT_RESAMPLES, Resampling, resampling_of
from analysis.metrics.resampling.design_effect import design_effects
from analysis.metrics.resampling.intervals import ZERO_WIDTH, percentile_intervals, wilson


def likelihood(
    judgements: Any,
    roles: pd.DataFrame,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    resampling: Resampling | None = None,
) -> Result:
    """Likelihood of each attribute in each group's images: L(a, g) = k / n (ViSAGe, Jha et al. 2024, §4).

    n = times a was shown for g over all images and annotators, k = times it was marked. Interval: pigeonhole bootstrap;
    if that has zero width (k = 0, k = n, or the same share in every image), the Wilson interval on n divided by the
    design effect (`interval` names the method).

    Parameters: `judgements` (image, identity_group, attribute, annotator, present[, model]), `roles` (identity_group,
    attribute, role). Table: model, identity_group, attribute, role, shown, marked, likelihood, ci_low, ci_high,
    interval, design_effect, reason. Missing data: a pair that was never shown has no row. Raises ValueError for a
    missing column, an empty field, or a `present` other than 0 or 1.

    >>> frame = pd.DataFrame({"image": [1, 1, 2, 2], "identity_group": "Aru", "attribute": "hat",
    ...                       "annotator": ["p", "q", "p", "q"], "present": [1, 0, 1, 1]})
    >>> roles = pd.DataFrame({"identity_group": ["Aru"], "attribute": ["hat"], "role": ["stereotype"]})
    >>> likelihood(frame, roles, resamples=100).rows()[0]["likelihood"]
    0.75
    """
    resampling = resampling_of(judgements, resampling, None, resamples, seed)
    data = resampling.judgements
    stereotype = stereotype_cells(data, roles)
    low, high, reason = cell_intervals(resampling)
    deff = design_effects(data, annotators=resampling.annotators_resampled)
    share = data.cell_marked / data.cell_shown
    edge = (share == 0) | (share == 1) | (reason == ZERO_WIDTH)
    low[edge], high[edge] = wilson(share[edge], data.cell_shown[edge] / deff[edge])
    reason[edge] = ""
    table = pd.DataFrame(
        {
            "model": labels(data.model_names[data.cell_model]),
            "identity_group": labels(data.group_names[data.cell_group]),
            "attribute": labels(data.cell_attribute_names()),
            "role": labels(np.where(stereotype, STEREOTYPE, RANDOM)),
            "shown": counts(data.cell_shown),
            "marked": counts(data.cell_marked),
            "likelihood": numbers(share),
            "ci_low": numbers(low),
            "ci_high": numbers(high),
            "interval": labels(np.where(edge, "wilson", "bootstrap")),
            "design_effect": numbers(deff),
            "reason": words(reason),
        }
    )[~data.cell_is_none].reset_index(drop=True)
    return Result(
        table=table,
        used=int(data.cell_shown[~data.cell_is_none].sum()),
        method=f"{resampling.method}; Wilson on n / design effect if that has zero width",
        seed=resampling.seed,
        resamples=resampling.resamples,
        dropped={"none_of_the_above": int(data.cell_shown[data.cell_is_none].sum())}
        if data.cell_is_none.any()
        else {},
    )


def cell_intervals(resampling: Resampling) -> tuple[Array, Array, Array]:
    """Low, high and reason of every cell's percentile interval."""
    cells = len(resampling.judgements.cell_group)
    low, high, reason = np.full(cells, np.nan), np.full(cells, np.nan), np.full(cells, "", dtype=object)
    for block in resampling.blocks():
        part = percentile_intervals(block.likelihood(), sparse=(block.n_shown == 0).mean(axis=1))
        low[block.cells], high[block.cells], reason[block.cells] = part.low, part.high, part.reason
    return low, high, reason
