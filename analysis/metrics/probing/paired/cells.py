"""Means of answers: over repeats, then over the cells of a scenario, then over scenarios."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array

LEVEL = 0.95


def scenario_means(frame: pd.DataFrame, by: Sequence[str], cell: Sequence[str]) -> pd.DataFrame:
    """One row per `by` × scenario with its `_mean`: over repeats within a cell, then over cells with equal weight."""
    inner = list(dict.fromkeys([*by, "scenario", *cell]))
    cells = frame.groupby(inner, sort=True)["code"].mean()
    outer = list(dict.fromkeys([*by, "scenario"]))
    return cells.groupby(outer, sort=True).mean().rename("_mean").reset_index()


def shared_cells(
    frame: pd.DataFrame, factor: str, levels: Sequence[Any], key: Sequence[str]
) -> tuple[pd.DataFrame, int]:
    """Cells (`key`) with the means at each level in columns 0, 1, …, and the number of cells that lack a level."""
    index = list(dict.fromkeys(key))
    means = frame[frame[factor].isin(levels)].groupby([*index, factor], sort=True)["code"].mean()
    table = means.unstack(factor).reindex(columns=list(levels)).set_axis(range(len(levels)), axis=1)
    complete = table.notna().all(axis=1)
    return table[complete].reset_index(), int((~complete).sum())


def t_interval(values: Array, *, level: float = LEVEL) -> tuple[float, float, float]:
    """Mean and t interval of independent values; the ends are NaN for fewer than two values or if all are equal."""
    from scipy.special import stdtrit  # 0.1 s to import

    n = len(values)
    if not n:
        return np.nan, np.nan, np.nan
    mean = float(np.mean(values))
    sd = spread(values)
    if n < 2 or sd == 0:
        return mean, np.nan, np.nan
    half = float(stdtrit(n - 1, (1 + level) / 2)) * sd / np.sqrt(n)
    return mean, mean - half, mean + half


def spread(values: Array) -> float:
    """Standard deviation (ddof 1); exactly 0 if values differ only by rounding."""
    if len(values) < 2:
        return np.nan
    sd = float(np.std(values, ddof=1))
    return 0.0 if sd <= 1e-12 * float(np.max(np.abs(values), initial=0)) else sd
