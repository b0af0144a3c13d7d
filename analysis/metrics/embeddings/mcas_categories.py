"""MCAS by category of targets: its size and its direction."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.validation import require_columns
from analysis.metrics.data.vector_sets import UNNAMED, as_text

ALL_CATEGORIES, POOLED = "all categories", "pooled"
TERMS = ("positive", "negative", "all")
NO_TERMS = "no_terms"

Row = tuple[str, str, str, int, float, float]


def mcas_categories(table: Any) -> Result:
    """Mean and population standard deviation (ddof 0) of MCAS over the terms of each category (Mandal et al.
    2023).

    `table`: the result of `mcas` or its table: category, mcas[, model]; one row per target. For each model and category
    there are three rows: `positive`, the terms with a score above 0; `negative`, those below 0; `all`. There are two
    more categories: `all categories`, as published, whose mean and sd are the means of the means and sds of the
    categories with such terms; `pooled`, over all terms. `n`: number of terms. Scores are in −8 … 8.

    Targets without a score are left out and counted (`dropped["no_score"]`). Without terms, mean and sd are null,
    `no_terms`. ValueError: a column is missing.
    """
    frame = require_columns(
        table.table if isinstance(table, Result) else table, "table", ("category", "mcas")
    )
    score = pd.to_numeric(frame["mcas"]).to_numpy(dtype=float, na_value=np.nan)
    model = as_text(frame["model"]) if "model" in frame else np.full(len(frame), UNNAMED, dtype=object)
    category = as_text(frame["category"])
    rows = [
        row
        for name in sorted(set(model))
        for row in _of_model(name, category[model == name], score[model == name])
    ]
    models, categories, terms, number, mean, deviation = (
        [row[column] for row in rows] for column in range(6)
    )
    result = pd.DataFrame(
        {
            "model": labels(models),
            "category": labels(categories),
            "terms": labels(terms),
            "n": counts(number),
            "mean": numbers(mean),
            "sd": numbers(deviation),
            "reason": words(NO_TERMS if not n else "" for n in number),
        }
    )
    missing = int(np.isnan(score).sum())
    return Result(
        table=result,
        used=len(frame) - missing,
        dropped={"no_score": missing},
        method="mean and population standard deviation",
    )


def _of_model(model: str, category: Array, score: Array) -> Iterator[Row]:
    rows: list[Row] = []
    for name in sorted(set(category)):
        rows += [(model, name, *row) for row in _statistics(score[category == name])]
    yield from rows
    for terms in TERMS:
        means, deviations = (
            np.array([row[column] for row in rows if row[2] == terms and row[3]]) for column in (4, 5)
        )
        number = sum(row[3] for row in rows if row[2] == terms)
        yield model, ALL_CATEGORIES, terms, number, _mean(means), _mean(deviations)
    yield from ((model, POOLED, *row) for row in _statistics(score))


def _statistics(score: Array) -> Iterator[tuple[str, int, float, float]]:
    score = score[~np.isnan(score)]
    for terms, chosen in zip(TERMS, (score[score > 0], score[score < 0], score), strict=True):
        yield terms, len(chosen), _mean(chosen), float(chosen.std()) if len(chosen) else np.nan


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else np.nan
