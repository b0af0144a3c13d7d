"""How the headline and the ranking of groups change if the same answers are counted differently."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
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
# The numbers of people and answers are shown for no group: together with the total they would reveal the rest.
_COUNTS = ["judgements", "judgements_left_out", "annotators"]
_VALUES = ["value", "difference", "groups"]
# Values to which single identity groups contribute.
_OF_EACH = ["groups", "kendall_tau", "largest_rank_change", "largest_rank_change_group"]


def scenarios(
    data: StudyData,
    parameters: Parameters,
    judgements: Judgements,
    annotators: pd.DataFrame,
    groupings: list[Grouping],
) -> Sensitivity:
    """The scenarios that a study's labels allow; `annotators` is the table with the flags."""
    none_was_asked = bool(judgements.cell_is_none.any())
    flagged = annotators.loc[annotators["flags"].notna(), "annotator"]
    keys = data.annotators.set_index("pseudonym")["key"]
    members = [grouping.memberships for grouping in groupings if len(grouping.memberships)]
    return sensitivity(
        judgements,
        data.associations,
        none_of_the_above=parameters.none_of_the_above if none_was_asked else "ignore",
        min_stereotypes=parameters.min_stereotypes,
        flagged=list(keys.reindex(flagged)),
        annotator_groups=pd.concat(members, ignore_index=True) if members else None,
    )


def publishable_tables(
    result: Sensitivity, groupings: list[Grouping], reason: str | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The scenarios and their ranks, without values that would reveal a person; `reason`: why there are no groups.

    If a group of annotators may not be shown in a model, all its numbers are null. If single identity groups may not be
    shown, there are no ranks, and the headline has only the pooled θ, because a median is the θ of one group.
    """
    table, ranks = result.table.copy(), result.ranks
    if reason is not None:
        table, ranks = (
            frame.assign(reason=frame["reason"].where(frame["reason"] != NO_GROUPS, reason))
            for frame in (table, ranks)
        )
    visible, visible_by_group = _visible_scenarios(groupings)
    group = ((table["scenario"] == ANNOTATOR_GROUP) & (table["scenario_value"] != "")).to_numpy()
    hidden = group & ~_within(table, visible)
    unranked = group & ~_within(table, visible_by_group)
    unlisted = hidden | (unranked & (table["statistic"] != POOLED).to_numpy())
    table.loc[group, _COUNTS] = pd.NA
    table.loc[unlisted, _VALUES] = pd.NA
    table.loc[unranked, _OF_EACH] = pd.NA
    table.loc[unranked, "reason"] = TOO_FEW_ANNOTATORS
    of_group = ((ranks["scenario"] == ANNOTATOR_GROUP) & (ranks["scenario_value"] != "")).to_numpy()
    ranks = ranks[~of_group | _within(ranks, visible_by_group)].reset_index(drop=True)
    return pd.concat([table, *_hidden_rows(table, groupings)], ignore_index=True), ranks


def _visible_scenarios(groupings: list[Grouping]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The (model, scenario value)s of groups that may be shown, and those shown of single identity groups too."""
    visible = [
        (model, f"{grouping.field}: {group}", grouping.each_identity_group[model])
        for grouping in groupings
        for model, groups in grouping.visible.items()
        for group in groups
    ]
    return {(model, value) for model, value, _ in visible}, {
        (m, value) for m, value, by_group in visible if by_group
    }


def _within(frame: pd.DataFrame, visible: set[tuple[str, str]]) -> Array:
    places = zip(frame["model"], frame["scenario_value"], strict=True)
    return np.array([place in visible for place in places], dtype=bool)


def _hidden_rows(table: pd.DataFrame, groupings: list[Grouping]) -> Iterator[pd.DataFrame]:
    """One row for each field with groups that are too small to show."""
    columns = ["model", "statistic", "baseline"]
    base = table.loc[table["scenario"] == BASELINE, columns]
    for grouping in groupings:
        of = [model for model, hidden in grouping.hidden.items() if hidden]
        if of:
            yield (
                base[base["model"].isin(of)]
                .assign(scenario=ANNOTATOR_GROUP, scenario_value=grouping.field, reason=TOO_FEW_ANNOTATORS)
                .reindex(columns=table.columns)
            )
