"""Differences between models that answered about the same images."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pandas as pd

from analysis.metrics.data.results import Result, counts, numbers
from analysis.metrics.probing.paired.answers import ProbeAnswers
from analysis.metrics.probing.paired.comparison_rows import Contrast, comparison_table, contrast
from analysis.metrics.probing.paired.statistics import EQUIVALENCE_BOUND, paired_test

ASSOCIATION, DIFFERENCE = "association", "difference"
NAMES = ("experiment", "measure", "factor", "model", "other_model", "family")


def model_differences(
    answers: Any, *, comparisons: Mapping[str, str] | None = None, bound: float = EQUIVALENCE_BOUND
) -> Result:
    """How two models differ on the same scenarios: in their answers about everybody, and in their differences between
    groups.

    `answers` as in `association_scores`, of several models. Per experiment and pair of models (in alphabetical order),
    over the cells (scenario × question × wording × order × group) that both answered:

    - measure `association`: the scenario's mean of one model minus that of the other;
    - measure `difference`: the difference between the two levels of the experiment's compared factor (`comparisons`,
      as in `paired_comparison`) of one model minus that of the other; for each pair of levels.

    Paired t test over scenarios with the further statistics of `paired_comparison`; all rows are one family (Holm).
    Missing data and nulls as in `paired_comparison`.

    Source: Fraser & Kiritchenko 2024 compare models side by side; pairing by scenario as in Dror et al. 2018.
    """
    data = ProbeAnswers.of(answers)
    declared = None if comparisons is None else dict(comparisons)
    names: list[dict[str, Any]] = []
    contrasts: list[Contrast] = []
    for experiment, part in data.everything.groupby("experiment", sort=True):
        factor = data.comparison_of(str(experiment), declared)
        answered = part[part["code"].notna()]
        for one, other in combinations(sorted(part["model"].unique()), 2):
            name = {"experiment": experiment, "model": one, "other_model": other}
            names.append({**name, "measure": ASSOCIATION})
            contrasts.append(contrast(answered, "model", (one, other), cell=data.cell()))
            two = answered[answered["model"].isin([one, other])]
            for level, other_level in combinations(sorted(part[factor].unique()), 2):
                names.append({**name, "measure": DIFFERENCE, "factor": f"{factor}: {level} − {other_level}"})
                contrasts.append(_difference(data, two, factor, (level, other_level), (one, other)))
    table = comparison_table(
        [{key: name.get(key, "models" if key == "family" else None) for key in NAMES} for name in names],
        [paired_test(each.differences, bound=bound) for each in contrasts],
        {
            "names": NAMES,
            "lone_cells": counts([each.lone_cells for each in contrasts]),
            "value": numbers([_value(each, 0) for each in contrasts]),
            "other_value": numbers([_value(each, 1) for each in contrasts]),
        },
    )
    return Result(
        table=table,
        used=len(data.frame),
        dropped={**data.dropped, "lone_cells": sum(each.lone_cells for each in contrasts)},
        method="paired t test of differences of scenarios' means; Holm over all rows",
        notes={"equivalence_bound": bound},
    )


def _difference(
    data: ProbeAnswers, frame: pd.DataFrame, factor: str, levels: tuple[str, str], models: tuple[str, str]
) -> Contrast:
    kept = frame[frame[factor].isin(levels)]
    model, level = (
        (kept[column] == second).to_numpy(dtype=int)
        for column, second in (("model", models[1]), (factor, levels[1]))
    )
    return contrast(
        kept.assign(_crossed=2 * model + level),
        "_crossed",
        range(4),
        cell=data.cell(without=[factor]),
        weights=(1.0, -1.0, -1.0, 1.0),
    )


def _value(each: Contrast, model: int) -> float:
    """The measure of the first or second model, over the shared cells."""
    if len(each.weights) == 2:
        return each.mean(model)
    return each.mean(2 * model) - each.mean(2 * model + 1)
