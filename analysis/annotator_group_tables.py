"""Groups of annotators beside each other: differences of L and θ, α within, agreement across."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.annotator_groupings import LEAST_ANNOTATORS, RELATION, Grouping, own_places
from analysis.loading import StudyData
from analysis.metrics.annotator_ids import UNUSABLE
from analysis.metrics.annotator_levels import levels_of
from analysis.metrics.compare_annotator_groups import (
    TOO_FEW_ANNOTATORS,
    AnnotatorGroups,
    compare_annotator_groups,
)
from analysis.metrics.judgements import Judgements
from analysis.metrics.resampling import Resampling
from analysis.results import PROMISED
from annotation.quotas import SEVERAL_VALUES

NO_PROFILES = "no_profiles"
PERMUTATIONS = 2_000
MOST_VALUES = 10  # of a field with several values, the most named
MOST_BY_GROUP = 4  # groups of a field beyond which differences are over all identity groups only
_OTHERS = "not {}"  # of a field with several values: those who gave others only
_TABLES = ("annotator_groups", "annotator_group_agreement")
_NUMBERS = (
    *("value_a", "value_b", "difference", "ci_low", "ci_high", "p", "p_adjusted"),
    *("annotators_a", "annotators_b"),
)


@dataclass(frozen=True, eq=False)
class GroupTables:
    """Two tables and, per field, the declared family and what was left out."""

    differences: pd.DataFrame
    agreement: pd.DataFrame
    notes: dict[str, Any]


def group_tables(data: StudyData, resampling: Resampling, found: list[Grouping], *, seed: int) -> GroupTables:
    """Differences of L and θ between every two groups of a field, α within and agreement across them."""
    if not resampling.annotator_ids.usable or not found:
        reason = NO_PROFILES if resampling.annotator_ids.usable else UNUSABLE
        return GroupTables(_joined([], 0), _joined([], 1), {"reason": reason})
    differences, agreement = [], []
    notes: dict[str, Any] = {}
    for one in found:
        for part in _comparisons(data, one):
            result = compare_annotator_groups(
                resampling.judgements,
                data.associations,
                part.annotators,
                identity_groups=part.depicted,
                by=part.scopes,
                adjust="max_t",
                permutations=PERMUTATIONS,
                resamples=resampling.resamples,
                seed=seed,
            )
            differences.append(_shown_differences(part, result, resampling.judgements))
            agreement.append(_shown_agreement(part, result))
            notes[part.name] = {
                "family": result.notes["family"],
                "permutations": result.notes["permutations"],
                "method": result.method,
                "left_out": dict(result.dropped),
            }
        if one.folded:
            differences.append(_folded(one.field, resampling.judgements))
    return GroupTables(_joined(differences, 0), _joined(agreement, 1), notes)


@dataclass(frozen=True, eq=False)
class _Comparison:
    """One call of `compare_annotator_groups`: who is in which group, and the groups that may be shown."""

    field: str
    name: str
    annotators: pd.DataFrame
    depicted: pd.DataFrame | None
    members: dict[str, int]

    @property
    def scopes(self) -> str:
        """Each pair has a row per identity group only where pairs are few, and once a field."""
        few = len(self.members) <= MOST_BY_GROUP and self.field not in SEVERAL_VALUES
        return "both" if few else "all"


def _comparisons(data: StudyData, one: Grouping) -> Iterator[_Comparison]:
    """A field is one comparison; each value of a field with several values is one against all the others."""
    if one.field == RELATION:
        if len(one.members) > 1:
            yield _Comparison(one.field, one.field, own_places(data.profiles), data.depicted, one.members)
    elif one.field in SEVERAL_VALUES:
        yield from _one_against_others(one)
    elif len(one.members) > 1:
        yield _Comparison(one.field, one.field, one.memberships[["annotator", "group"]], None, one.members)


def _one_against_others(one: Grouping) -> Iterator[_Comparison]:
    judged = one.everybody
    most_named = sorted(one.members, key=lambda value: (-one.members[value], value))[:MOST_VALUES]
    for value in sorted(most_named):
        inside = frozenset(one.memberships.loc[one.memberships["group"] == value, "annotator"])
        outside = judged - inside
        if len(outside) >= LEAST_ANNOTATORS:
            others = _OTHERS.format(value)
            people = pd.DataFrame(
                [(who, value if who in inside else others) for who in sorted(judged)],
                columns=["annotator", "group"],
                dtype=object,
            )
            yield _Comparison(
                one.field,
                f"{one.field}: {value}",
                people,
                None,
                {value: len(inside), others: len(outside)},
            )


def _shown_differences(part: _Comparison, result: AnnotatorGroups, judgements: Judgements) -> pd.DataFrame:
    """The rows of groups that may be shown; of one identity group only where enough people judged it."""
    table = result.table
    table = table[table["group_a"].isin(part.members) & table["group_b"].isin(part.members)]
    sizes = _sizes(part, judgements)
    number = {
        side: np.array(
            [
                sizes.get((model, scope_value, group), 0)
                for model, scope_value, group in zip(
                    table["model"], table["scope_value"], table[f"group_{side}"], strict=True
                )
            ]
        )
        for side in ("a", "b")
    }
    few = (number["a"] < LEAST_ANNOTATORS) | (number["b"] < LEAST_ANNOTATORS)
    table = table.assign(
        field=part.field,
        annotators_a=pd.Series(number["a"], index=table.index).astype("Int64"),
        annotators_b=pd.Series(number["b"], index=table.index).astype("Int64"),
    )
    nothing = [column for column in _NUMBERS if column in table]
    table.loc[few, nothing] = pd.NA
    table.loc[few, "reason"] = TOO_FEW_ANNOTATORS
    return table


def _sizes(part: _Comparison, judgements: Judgements) -> dict[tuple[str, str, str], int]:
    """Annotators by model, identity group ("" for all) and group."""
    levels = levels_of(judgements, part.annotators, part.depicted)
    level = levels.of_rows(judgements)
    known = level >= 0
    cell = judgements.unit_cell[judgements.row_unit[known]]
    groups, people = len(judgements.group_names), len(judgements.annotator_names)
    shape = (len(judgements.model_names), groups, len(levels.names), people)
    place = (judgements.cell_model[cell], judgements.cell_group[cell], level[known])
    judged = np.unique(np.ravel_multi_index((*place, judgements.row_annotator[known]), shape))
    model, group, code, person = np.unravel_index(judged, shape)
    found: dict[tuple[str, str, str], int] = {}
    for m, name in enumerate(map(str, judgements.model_names)):
        for k, level_name in enumerate(levels.names):
            mine = (model == m) & (code == k)
            found[name, "", level_name] = len(np.unique(person[mine]))
            for g, number in enumerate(np.bincount(group[mine], minlength=groups)):
                found[name, str(judgements.group_names[g]), level_name] = int(number)
    return found


def _shown_agreement(part: _Comparison, result: AnnotatorGroups) -> pd.DataFrame:
    table = result.agreement
    shown = table["group_a"].isin(part.members) & table["group_b"].isin(part.members)
    return table[shown].assign(field=part.field)


def _folded(field: str, judgements: Judgements) -> pd.DataFrame:
    """That a field has groups too small to show."""
    return pd.DataFrame(
        {
            "field": field,
            "model": [str(name) for name in judgements.model_names],
            "scope": "all",
            "scope_value": "",
            "reason": TOO_FEW_ANNOTATORS,
        }
    )


def _joined(parts: list[pd.DataFrame], which: int) -> pd.DataFrame:
    columns = list(PROMISED[_TABLES[which]])
    if not parts:
        return pd.DataFrame(columns=columns)
    return pd.concat([part.reindex(columns=columns) for part in parts], ignore_index=True)
