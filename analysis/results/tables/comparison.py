"""Comparisons of models and of campaigns: differences and ratios of L and θ in the same resamples."""

from collections.abc import Iterator

import pandas as pd

from analysis.metrics.marking.comparison import compare_models
from analysis.metrics.resampling.bootstrap import Resampling, pigeonhole_bootstrap
from analysis.results.data.labels import StudyData
from analysis.results.schema import PROMISED

SCOPES = ("all", "identity_group")
MODEL, CAMPAIGN = "model", "campaign"


def differences_table(data: StudyData, resampling: Resampling) -> pd.DataFrame:
    """Every pair of models, and per model every pair of campaigns that judged its images; empty if there is only
    one."""
    parts = [*_models(data, resampling), *_campaigns(data, resampling)]
    columns = list(PROMISED["model_differences"])
    if not parts:
        return pd.DataFrame(columns=columns)
    table = pd.concat(parts, ignore_index=True)
    return table.rename(columns={"model_a": "side_a", "model_b": "side_b"})


def _models(data: StudyData, resampling: Resampling) -> Iterator[pd.DataFrame]:
    if len(resampling.judgements.model_names) > 1:
        for scope in SCOPES:
            result = compare_models(resampling.judgements, data.associations, by=scope, resampling=resampling)
            yield result.to_frame().assign(compared=MODEL, model="")


def _campaigns(data: StudyData, resampling: Resampling) -> Iterator[pd.DataFrame]:
    for model, rows in data.judgements.groupby("model", observed=True, sort=True):
        if rows["campaign"].nunique() < 2:
            continue
        sides = rows.assign(model=rows["campaign"])
        shared = pigeonhole_bootstrap(sides, resamples=resampling.resamples, seed=resampling.seed)
        for scope in SCOPES:
            result = compare_models(shared.judgements, data.associations, by=scope, resampling=shared)
            yield result.to_frame().assign(compared=CAMPAIGN, model=str(model))
