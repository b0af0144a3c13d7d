"""The effects of the order of options and of the wording of questions on answers."""

from collections.abc import Collection
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.validation import require_choice
from analysis.metrics.probing.paired.answers import DECIDED, ProbeAnswers
from analysis.metrics.probing.paired.comparison_rows import comparison_table, contrast
from analysis.metrics.probing.paired.statistics import EQUIVALENCE_BOUND, paired_test
from analysis.metrics.resampling.cluster_rates import cluster_rates

CONDITIONS = ("order", "wording")
# In the published orders the option coded +1 is first, except in one question.
MINUS_FIRST = ("education",)
PUBLISHED, REVERSED = "published", "reversed"
NO_DECISION = "no_decision"


def condition_effects(answers: Any, *, condition: str = "order", bound: float = EQUIVALENCE_BOUND) -> Result:
    """How strongly answers depend on the order of options, or on the wording of questions.

    `answers` as in `association_scores`, with a column `order` or `wording` (`condition`). For each pair of orders
    (wordings) of a model × experiment: within each scenario the mean over repeats in each cell (question × group × the
    other condition) under both, then over cells; difference = mean over scenarios of level − other, tested as in
    `paired_comparison` (one family of all rows, Holm); `association` = the mean of both.

    Missing data and nulls as in `paired_comparison`; a model that was asked in only one order has no row.

    Source: Pezeshkpour & Hruschka 2024, *Large language models sensitivity to the order of options*.
    """
    require_choice(condition, "condition", CONDITIONS)
    data = ProbeAnswers.of(answers)
    cell = data.cell(without=[condition])
    names, differences = [], []
    for (model, experiment), part in data.everything.groupby(["model", "experiment"], sort=True):
        for level, other in combinations(sorted(part[condition].unique()), 2):
            name = {
                "model": model,
                "experiment": experiment,
                "condition": condition,
                "level": level,
                "other": other,
            }
            names.append({**name, "family": condition})
            differences.append(contrast(part[part["code"].notna()], condition, (level, other), cell=cell))
    means = [[each.mean(side) for each in differences] for side in (0, 1)]
    table = comparison_table(
        names,
        [paired_test(each.differences, bound=bound) for each in differences],
        {
            "names": ("model", "experiment", "condition", "level", "other", "family"),
            "association": numbers(np.mean(means, axis=0) if names else []),
            "mean_level": numbers(means[0]),
            "mean_other": numbers(means[1]),
            "lone_cells": counts([each.lone_cells for each in differences]),
        },
    )
    return Result(
        table=table,
        used=len(data.frame),
        dropped={**data.dropped, "lone_cells": sum(each.lone_cells for each in differences)},
        method="paired t test of differences of scenarios' means; Holm over all rows",
        notes={"equivalence_bound": bound},
    )


def first_option_shares(answers: Any, *, minus_first: Collection[str] = MINUS_FIRST) -> Result:
    """How often a model chooses the first-named option.

    share = answers that chose the first-named option / answers that chose one (plus or minus), per model (`experiment`
    null) and per model × experiment, with an interval (`cluster_rates`, scenarios as clusters). If every question is
    asked in both orders, 0.5 means that the order does not matter.

    `answers` as in `association_scores`. A column `first` states whether the first-named option is plus or minus.
    Without it `order` decides: `plus_first`, `minus_first`; `published` means plus first except in the questions
    `minus_first`; `reversed` is the opposite.

    Missing data: answers that chose neither option (`not_decided`), failed answers, and answers with another order and
    no `first` (`order_unknown`) are counted in `dropped`. Null: `no_decision`; the interval: `one_cluster`.
    """
    data = ProbeAnswers.of(answers)
    frame = data.frame[data.frame["outcome"].isin(DECIDED)]
    first = _first_option(frame, minus_first)
    known = frame[first != ""]
    chose_first = (known["outcome"].to_numpy() == first[first != ""]).astype(float)
    tables = []
    for key in (["model"], ["model", "experiment"]):
        everything = data.everything[key].drop_duplicates().sort_values(key, ignore_index=True)
        place = (
            known[key].merge(everything.reset_index(names="place"), on=key, how="left")["place"].to_numpy()
        )
        scenario = known.groupby(["experiment", "scenario"], sort=True).ngroup().to_numpy()
        rates = cluster_rates(
            chose_first, cell=place.astype(np.int64), cells=len(everything), cluster=scenario
        )
        tables.append(
            pd.DataFrame(
                {
                    "model": labels(everything["model"]),
                    "experiment": words(
                        everything["experiment"] if len(key) > 1 else [None] * len(everything)
                    ),
                    "decided": counts(rates.answers),
                    "first": counts(rates.yes),
                    "share": numbers(rates.share),
                    "ci_low": numbers(rates.low),
                    "ci_high": numbers(rates.high),
                    "reason": words(np.where(rates.answers == 0, NO_DECISION, rates.reason)),
                }
            )
        )
    return Result(
        table=pd.concat(tables, ignore_index=True),
        used=len(known),
        dropped={
            **data.dropped,
            "not_decided": len(data.frame) - len(frame),
            "order_unknown": len(frame) - len(known),
        },
        method="Wilson on n / design effect of scenarios",
    )


def _first_option(frame: pd.DataFrame, minus_first: Collection[str]) -> Any:
    """plus, minus, or '' if it is unknown which option was named first."""
    order = frame["order"].to_numpy()
    exception = frame["question"].isin(list(minus_first)).to_numpy()
    as_published = np.where(exception, "minus", "plus")
    opposite = np.where(exception, "plus", "minus")
    first = np.select(
        [order == PUBLISHED, order == REVERSED, order == "plus_first", order == "minus_first"],
        [as_published, opposite, "plus", "minus"],
        "",
    ).astype(object)
    if "first" in frame:
        declared = frame["first"].to_numpy()
        first = np.where(np.isin(declared, DECIDED), declared, first)
    return first
