"""Automated θ: scores become judgements at a threshold, and θ is computed from them as from people's judgements."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
from analysis.metrics.marking.tendency import tendency
from analysis.metrics.resampling.bootstrap import pigeonhole_bootstrap

WITHOUT_THRESHOLD = 0.5
FEWEST_GROUPS = 5
TOO_FEW_GROUPS = "too_few_groups"
NO_VARIATION = "no_variation"
_KEYS = ["scorer", "model", "attribute"]
_HUMAN = {
    "theta": "human_theta",
    "theta_low": "human_theta_low",
    "theta_high": "human_theta_high",
    "theta_smoothed": "human_theta_smoothed",
    "reason": "human_reason",
}
# Of people alone: in the tendency table.
_LEFT_OUT = [f"likelihood_{role}_{end}" for role in ("stereotype", "random") for end in ("low", "high")]
_MACHINE = {
    "theta": "automated_theta",
    "theta_low": "automated_theta_low",
    "theta_high": "automated_theta_high",
    "theta_smoothed": "automated_theta_smoothed",
}


def thresholded(scores: pd.DataFrame, concordance: pd.DataFrame) -> pd.DataFrame:
    """Scores as judgements: present from the threshold that people's answers gave the attribute, else from 0.5."""
    defined = concordance[concordance["attribute"].notna() & concordance["threshold"].notna()]
    # A threshold for each scorer, model and attribute, then one for each row: there may be millions of rows.
    number = scores.groupby(_KEYS, sort=False, observed=True).ngroup().to_numpy()
    first_rows = np.unique(number, return_index=True)[1]
    cells = scores.iloc[first_rows][_KEYS].astype(object)
    chosen = cells.merge(
        defined[[*_KEYS, "threshold"]].astype(dict.fromkeys(_KEYS, object)), how="left", on=_KEYS
    )
    row_thresholds = chosen["threshold"].astype("Float64").to_numpy(dtype=float, na_value=np.nan)[number]
    threshold = np.where(np.isnan(row_thresholds), WITHOUT_THRESHOLD, row_thresholds)
    return scores.assign(
        present=scores["score"].to_numpy(dtype=float) >= threshold, chosen=~np.isnan(row_thresholds)
    )


def machine_tendency(
    judged: pd.DataFrame,
    roles: pd.DataFrame,
    human: pd.DataFrame,
    *,
    min_stereotypes: int,
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """θ of every group by each scorer, together with people's θ; only images are resampled.

    judged: as `thresholded` returns, of images with a group. human: the tendency table of people's judgements.
    """
    parts = []
    for scorer, scorer_rows in judged.groupby("scorer", sort=True, observed=True):
        answers = scorer_rows[["model", "identity_group", "image", "attribute", "present"]].assign(
            annotator=str(scorer)
        )
        resampling = pigeonhole_bootstrap(answers, resamples=resamples, seed=seed, annotators="ignore")
        theta = tendency(resampling.judgements, roles, min_stereotypes=min_stereotypes, resampling=resampling)
        listed = pd.concat([theta.to_frame(), theta.excluded], ignore_index=True).drop(columns=_LEFT_OUT)
        images = (
            scorer_rows.groupby(["model", "identity_group"], observed=True)["image"]
            .nunique()
            .rename("images")
            .reset_index()
        )
        listed = listed.merge(images.astype({"model": "string", "identity_group": "string"}), how="left")
        parts.append(listed.rename(columns=_MACHINE).assign(scorer=str(scorer)))
    if not parts:
        return pd.DataFrame()
    table = pd.concat(parts, ignore_index=True)
    # If nobody judged anything, the table has no models.
    beside = human.reindex(columns=["model", "identity_group", *_HUMAN]).rename(columns=_HUMAN)
    keys = {"model": "string", "identity_group": "string"}
    return table.merge(beside.astype(keys), how="left", on=["model", "identity_group"])


def correlations(table: pd.DataFrame, *, resamples: int, seed: int) -> list[dict[str, Any]]:
    """Spearman's ρ of both θ smoothed over groups, per scorer and model, with a bootstrap interval over groups."""
    lines = []
    for (scorer, model), rows in table.groupby(["scorer", "model"], sort=True):
        pairs = rows[["human_theta_smoothed", "automated_theta_smoothed"]].dropna().to_numpy(dtype=float)
        lines.append({"scorer": scorer, "model": model} | _spearman(pairs, resamples, seed))
    return lines


def _spearman(pairs: Array, resamples: int, seed: int) -> dict[str, Any]:
    line: dict[str, Any] = {
        "groups": len(pairs),
        "spearman": None,
        "ci_low": None,
        "ci_high": None,
        "reason": None,
    }
    if len(pairs) < FEWEST_GROUPS:
        return line | {"reason": TOO_FEW_GROUPS}
    value = _rho(pairs[None, :, 0], pairs[None, :, 1])[0]
    if np.isnan(value):
        return line | {"reason": NO_VARIATION}
    drawn = np.random.default_rng(seed).integers(0, len(pairs), (resamples, len(pairs)))
    spread = _rho(pairs[drawn, 0], pairs[drawn, 1])
    low, high = np.nanpercentile(spread, [2.5, 97.5])
    return line | {"spearman": float(value), "ci_low": float(low), "ci_high": float(high)}


def _rho(x: Array, y: Array) -> Array:
    """Spearman's ρ of each row, NaN if one side does not vary."""
    from scipy.stats import rankdata  # half a second to import

    a, b = rankdata(x, axis=1), rankdata(y, axis=1)
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    size = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    result: Array = np.where(size > 0, (a * b).sum(axis=1) / np.where(size > 0, size, 1.0), np.nan)
    return result
