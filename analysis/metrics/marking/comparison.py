"""Differences between models, campaigns or groups of annotators, computed in the same resamples."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array, ratio
from analysis.metrics.data.judgements import Judgements
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.roles import stereotype_cells
from analysis.metrics.data.validation import require_choice
from analysis.metrics.marking.role_means import resampled_role_means, role_means
from analysis.metrics.resampling.bootstrap import DEFAULT_RESAMPLES, Resampling, resampling_of
from analysis.metrics.resampling.intervals import percentile_intervals

MEASURES = ("likelihood_stereotype", "likelihood_random", "theta")
NOT_DEFINED = "not_defined"


def compare_models(
    judgements: Any,
    roles: pd.DataFrame,
    *,
    by: str = "all",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    resampling: Resampling | None = None,
) -> Result:
    """Difference and ratio of L and θ between every two models (or campaigns, if the `model` column contains these).

    by="all": the means of L(stereo, g) and L(random, g) over the groups where both roles were shown, and their ratio,
    the pooled θ; by="identity_group": those of each group. Images judged for both are resampled together, annotators
    once for everything. Table: scope, scope_value, measure, model_a, model_b, value_a, value_b, difference, ci_low,
    ci_high, ratio, ratio_low, ratio_high, resamples_undefined, reason. Null: `not_defined` if a value is undefined. A
    resample with an undefined value is left out and counted. If more than 5 % of resamples are undefined, or have a
    cell of the group ("all": a whole group) without weight, the interval is null, `too_sparse`.
    """
    require_choice(by, "by", ("all", "identity_group"))
    resampling = resampling_of(judgements, resampling, None, resamples, seed)
    data = resampling.judgements
    values, samples, lost = _values_and_samples(resampling, stereotype_cells(data, roles), by)
    frames = [
        _differences(data, by, a, b, values, samples, lost)
        for a, b in combinations(range(len(data.model_names)), 2)
    ]
    return Result(
        table=pd.concat(frames, ignore_index=True)
        if frames
        else _differences(data, by, 0, 0, values, samples, lost)[:0],
        used=int(data.cell_shown[~data.cell_is_none].sum()),
        method=resampling.method,
        seed=resampling.seed,
        resamples=resampling.resamples,
    )


def measures_by_scope(stereo: Array, random: Array, by: str) -> Array:
    """MEASURES × scopes × resamples, from the role means of groups (groups × resamples)."""
    if by == "all":
        defined = ~np.isnan(stereo) & ~np.isnan(random)
        number = defined.sum(axis=0, keepdims=True)
        stereo, random = (
            ratio(np.where(defined, mean, 0.0).sum(axis=0, keepdims=True), number)
            for mean in (stereo, random)
        )
    theta = ratio(stereo, random)
    return np.stack([stereo, random, theta])


def _values_and_samples(
    resampling: Resampling, stereotype: Array, by: str
) -> tuple[list[Array], list[Array], list[Array]]:
    """Per model: the values (MEASURES × scopes), the same in each resample, and the losses (scopes × resamples).

    A group has a loss if one of its cells has no weight; all groups together have a loss if a whole group has no
    weight.
    """
    data = resampling.judgements
    models, groups = len(data.model_names), len(data.group_names)
    counted = ~data.cell_is_none
    means = role_means(data, stereotype, counted)
    point = np.full((2, models * groups, 1), np.nan)
    point[0, means.block, 0], point[1, means.block, 0] = means.stereo, means.random
    drawn = np.full((2, models * groups, resampling.resamples), np.nan)
    cell_lost = np.zeros((models * groups, resampling.resamples), dtype=bool)
    for part in resampled_role_means(resampling, stereotype, counted):
        drawn[0, means.block[part.groups]], drawn[1, means.block[part.groups]] = part.stereo, part.random
        cell_lost[means.block[part.groups]] = part.dropped
    slices = [slice(model * groups, (model + 1) * groups) for model in range(models)]

    def per_model(means_of: Array) -> list[Array]:
        return [measures_by_scope(means_of[0, blocks], means_of[1, blocks], by) for blocks in slices]

    both_shown = ~np.isnan(point).any(axis=0)
    group_lost = both_shown & np.isnan(drawn).any(axis=0)
    lost = [
        cell_lost[blocks] if by == "identity_group" else group_lost[blocks].any(axis=0, keepdims=True)
        for blocks in slices
    ]
    return per_model(point), per_model(drawn), lost


def _differences(
    data: Judgements,
    by: str,
    a: int,
    b: int,
    values: list[Array],
    samples: list[Array],
    lost: list[Array],
) -> pd.DataFrame:
    measures, scopes, resamples = samples[a].shape
    value_a, value_b = values[a].ravel(), values[b].ravel()
    difference = samples[a].reshape(-1, resamples) - samples[b].reshape(-1, resamples)
    below = samples[b].reshape(-1, resamples)
    ratios = ratio(samples[a].reshape(-1, resamples), below)
    sparse = np.tile((lost[a] | lost[b]).mean(axis=1), measures)
    intervals = [
        percentile_intervals(x, sparse=np.maximum(sparse, np.isnan(x).mean(axis=1)))
        for x in (difference, ratios)
    ]
    null = np.isnan(value_a) | np.isnan(value_b)
    no_ratio = null | (value_b == 0)
    names = data.group_names if by == "identity_group" else [""]
    return pd.DataFrame(
        {
            "scope": labels([by] * measures * scopes),
            "scope_value": labels(list(names) * measures),
            "measure": labels(np.repeat(MEASURES, scopes)),
            "model_a": labels([data.model_names[a]] * measures * scopes),
            "model_b": labels([data.model_names[b]] * measures * scopes),
            "value_a": numbers(value_a),
            "value_b": numbers(value_b),
            "difference": numbers(value_a - value_b),
            "ci_low": numbers(np.where(null, np.nan, intervals[0].low)),
            "ci_high": numbers(np.where(null, np.nan, intervals[0].high)),
            "ratio": numbers(np.divide(value_a, value_b, out=np.full(len(null), np.nan), where=~no_ratio)),
            "ratio_low": numbers(np.where(no_ratio, np.nan, intervals[1].low)),
            "ratio_high": numbers(np.where(no_ratio, np.nan, intervals[1].high)),
            "resamples_undefined": counts(intervals[0].undefined),
            "reason": words(np.where(null, NOT_DEFINED, intervals[0].reason)),
        }
    )
