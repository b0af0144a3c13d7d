"""How the headline and the ranking of groups change with the choices made."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.metrics.data.judgements import Judgements
from analysis.metrics.marking.sensitivity import (
    ANNOTATOR_GROUP,
    BASELINE,
    NO_GROUPS,
    Sensitivity,
    sensitivity,
)
from analysis.metrics.resampling.intervals import TOO_FEW_ANNOTATORS
from analysis.results.data.labels import StudyData
from analysis.results.parameters import Parameters
from analysis.results.tables.groupings import Grouping

POOLED = "pooled"
# How many people and answers are behind a group is told of none: with the whole it would tell of the rest.
_COUNTS = ["judgements", "judgements_left_out", "annotators"]
_VALUES = ["value", "difference", "groups"]
# What single identity groups have a part in.
_OF_EACH = ["groups", "kendall_tau", "largest_rank_change", "largest_rank_change_group"]


def scenarios(
    data: StudyData,
    parameters: Parameters,
    judgements: Judgements,
    annotators: pd.DataFrame,
    found: list[Grouping],
) -> Sensitivity:
    """The scenarios a study's labels allow; `annotators` is the table that says who is flagged."""
    asked = bool(judgements.cell_is_none.any())
    flagged = annotators.loc[annotators["flags"].notna(), "annotator"]
    keys = data.annotators.set_index("pseudonym")["key"]
    members = [one.memberships for one in found if len(one.memberships)]
    return sensitivity(
        judgements,
        data.associations,
        none_of_the_above=parameters.none_of_the_above if asked else "ignore",
        min_stereotypes=parameters.min_stereotypes,
        flagged=list(keys.reindex(flagged)),
        annotator_groups=pd.concat(members, ignore_index=True) if members else None,
    )


def shown_tables(
    result: Sensitivity, found: list[Grouping], reason: str | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The scenarios and the ranks in them as far as they tell of nobody; `reason`: why there are no groups at all.

    Of a group of annotators in a model where it may not be shown every number is null. Where single identity
    groups may not be told of, there are no ranks, and of the headline only the pooled θ: a median is the θ of one
    of them.
    """
    table, ranks = result.table.copy(), result.ranks
    if reason is not None:
        table, ranks = (
            frame.assign(reason=frame["reason"].where(frame["reason"] != NO_GROUPS, reason))
            for frame in (table, ranks)
        )
    shown, each = _told(found)
    group = ((table["scenario"] == ANNOTATOR_GROUP) & (table["scenario_value"] != "")).to_numpy()
    hidden = group & ~_within(table, shown)
    unranked = group & ~_within(table, each)
    unlisted = hidden | (unranked & (table["statistic"] != POOLED).to_numpy())
    table.loc[group, _COUNTS] = pd.NA
    table.loc[unlisted, _VALUES] = pd.NA
    table.loc[unranked, _OF_EACH] = pd.NA
    table.loc[unranked, "reason"] = TOO_FEW_ANNOTATORS
    of_group = ((ranks["scenario"] == ANNOTATOR_GROUP) & (ranks["scenario_value"] != "")).to_numpy()
    ranks = ranks[~of_group | _within(ranks, each)].reset_index(drop=True)
    return pd.concat([table, *_folded(table, found)], ignore_index=True), ranks


def _told(found: list[Grouping]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The (model, scenario value)s of groups that may be shown, and those shown of single identity groups too."""
    named = [
        (model, f"{one.field}: {group}", one.each[model])
        for one in found
        for model, groups in one.shown.items()
        for group in groups
    ]
    return {(model, value) for model, value, _ in named}, {(m, value) for m, value, each in named if each}


def _within(frame: pd.DataFrame, told: set[tuple[str, str]]) -> np.ndarray:
    places = zip(frame["model"], frame["scenario_value"], strict=True)
    return np.array([place in told for place in places], dtype=bool)


def _folded(table: pd.DataFrame, found: list[Grouping]) -> Iterator[pd.DataFrame]:
    """For each field with groups too small to show, that there are some."""
    kept = ["model", "statistic", "baseline"]
    base = table.loc[table["scenario"] == BASELINE, kept]
    for one in found:
        of = [model for model, hidden in one.hidden.items() if hidden]
        if of:
            yield (
                base[base["model"].isin(of)]
                .assign(scenario=ANNOTATOR_GROUP, scenario_value=one.field, reason=TOO_FEW_ANNOTATORS)
                .reindex(columns=table.columns)
            )
