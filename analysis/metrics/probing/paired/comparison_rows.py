"""Tables of paired comparisons: names, statistics, family, and the effect that the test could have found."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.results import counts, numbers, words
from analysis.metrics.probing.paired.cells import shared_cells
from analysis.metrics.probing.paired.statistics import ALPHA, STATISTICS, PairedTest, detectable_effect
from analysis.metrics.resampling.multiplicity import holm

UNITS = ("scenarios", "responses")


@dataclass(frozen=True, eq=False)
class Contrast:
    """Differences with their means, and the numbers of cells and scenarios without a counterpart."""

    frame: pd.DataFrame
    """scenario (or pair of answers), and the means at each level in columns 0, 1, …"""
    weights: tuple[float, ...]
    lone_cells: int
    lone_scenarios: int

    @property
    def differences(self) -> Array:
        means: Array = self.frame[list(range(len(self.weights)))].to_numpy(dtype=float)
        return np.asarray(means @ np.array(self.weights))

    def mean(self, place: int) -> float:
        values = self.frame[place].to_numpy(dtype=float)
        return float(values.mean()) if len(values) else np.nan


def contrast(
    frame: pd.DataFrame,
    column: str,
    levels: Sequence[Any],
    *,
    cell: Sequence[str],
    weights: Sequence[float] = (1.0, -1.0),
    unit: str = "scenarios",
) -> Contrast:
    """Weighted sum of the means at the levels of a column, per scenario, or per answers that differ only in it.

    A cell (scenario × `cell`[× repeat]) without answers at one of the levels is left out at all levels.
    """
    key = ["experiment", "scenario", *cell, *(["repeat"] if unit == "responses" else [])]
    cells, lone_cells = shared_cells(frame, column, levels, key)
    if unit == "scenarios":
        cells = (
            cells.groupby(["experiment", "scenario"], sort=True)[list(range(len(levels)))]
            .mean()
            .reset_index()
        )
    named = frame[frame[column].isin(levels)][["experiment", "scenario"]].drop_duplicates()
    lone = len(named) - len(cells[["experiment", "scenario"]].drop_duplicates())
    return Contrast(cells, tuple(weights), lone_cells, lone)


def comparison_table(
    names: Sequence[Mapping[str, Any]], tests: Sequence[PairedTest], columns: Mapping[str, Any]
) -> pd.DataFrame:
    """One row per test. `names` has at least `family`; tests that are null are not part of their family."""
    family = [name["family"] for name in names]
    p = np.array([test.p for test in tests], dtype=float)
    size = Counter(name for name, value in zip(family, p, strict=True) if not np.isnan(value))
    adjusted = np.full(len(p), np.nan)
    for name in size:
        of_family = np.array([other == name for other in family])
        adjusted[of_family] = holm(p[of_family])
    level = np.array([ALPHA / max(size[name], 1) for name in family])
    effect = [detectable_effect(test.n, level=float(a)) for test, a in zip(tests, level, strict=True)]
    spread = np.array([test.sd if test.reason == "" else np.nan for test in tests])
    values = {name: [getattr(test, name) for test in tests] for name in STATISTICS}
    equivalence = np.array(values["p_equivalence"], dtype=float)
    keys = list(names[0]) if names else list(columns["names"])
    return pd.DataFrame(
        {
            **{key: words([name[key] for name in names]) for key in keys},
            "family_size": counts([size[name] for name in family]),
            "n": counts([test.n for test in tests]),
            **{name: numbers(values[name]) for name in ("difference", "ci_low", "ci_high", "t", "df", "p")},
            "p_holm": numbers(adjusted),
            **{name: numbers(values[name]) for name in ("d_z", "d_z_low", "d_z_high", "p_permutation")},
            "p_equivalence": numbers(equivalence),
            "equivalent": pd.arrays.BooleanArray(equivalence < ALPHA, np.isnan(equivalence)),
            "sd": numbers(values["sd"]),
            **{name: value for name, value in columns.items() if name != "names"},
            "test_level": numbers(level),
            "detectable_d_z": numbers(effect),
            "detectable_difference": numbers(np.array(effect, dtype=float) * spread),
            "reason": words([test.reason for test in tests]),
        }
    )
