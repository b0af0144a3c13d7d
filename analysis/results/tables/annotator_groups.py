"""Comparisons of groups of annotators: differences of L and θ, α within, agreement across."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.metrics.annotators.comparison import AnnotatorGroups, compare_annotator_groups
from analysis.metrics.data.annotator_ids import UNUSABLE
from analysis.metrics.data.judgements import Judgements
from analysis.metrics.resampling.bootstrap import Resampling
from analysis.metrics.resampling.intervals import TOO_FEW_ANNOTATORS
from analysis.results.data.labels import StudyData
from analysis.results.schema import PROMISED
from analysis.results.tables.groupings import RELATION, Grouping, annotator_places
from annotation.assignment.quotas import SEVERAL_VALUES

NO_PROFILES = "no_profiles"
PERMUTATIONS = 2_000
MOST_VALUES = 10  # of a field with several values, the most named
MOST_BY_GROUP = 4  # groups of a field beyond which differences are over all identity groups only
_OTHERS = "not {}"  # of a field with several values: those who gave others only
_TABLES = ("annotator_groups", "annotator_group_agreement")


@dataclass(frozen=True, eq=False)
class GroupTables:
    """Two tables and, per field and model, the declared family."""

    differences: pd.DataFrame
    agreement: pd.DataFrame
    notes: dict[str, Any]


def group_tables(
    data: StudyData,
    resampling: Resampling,
    groupings: list[Grouping],
    *,
    seed: int,
    reason: str | None = None,
) -> GroupTables:
    """Differences of L and θ between every two groups of a field, α within and agreement across them.

    They are computed model by model, because a group may be large enough in only one model; `reason` states why there
    are no groups.
    """
    if not resampling.annotator_ids.usable or not groupings:
        reason = (reason or NO_PROFILES) if resampling.annotator_ids.usable else UNUSABLE
        return GroupTables(_joined([], 0), _joined([], 1), {"reason": reason})
    models = _models(data, resampling.judgements)
    differences, agreement = [], []
    notes: dict[str, Any] = {}
    for grouping in groupings:
        for model, judgements in models.items():
            for part in _comparisons(data, grouping, model):
                result = compare_annotator_groups(
                    judgements,
                    data.associations,
                    part.annotators,
                    identity_groups=part.depicted,
                    by=part.scopes,
                    adjust="max_t",
                    permutations=PERMUTATIONS,
                    resamples=resampling.resamples,
                    seed=seed,
                )
                differences.append(_with_sizes(part, result))
                agreement.append(result.agreement.assign(field=part.field))
                family = result.notes["family"]
                notes[part.name if len(models) == 1 else f"{part.name}, {model}"] = {
                    "field": grouping.field,
                    "model": model,
                    "family": family if part.scopes == "both" else {part.scopes: family},
                    "permutations": result.notes["permutations"],
                    "method": result.method,
                }
        if any(grouping.hidden.values()):
            differences.append(_hidden_rows(grouping))
    return GroupTables(_joined(differences, 0), _joined(agreement, 1), notes)


def _models(data: StudyData, judgements: Judgements) -> dict[str, Judgements]:
    """The judgements of each model."""
    names = [str(name) for name in judgements.model_names]
    if len(names) == 1:
        return {names[0]: judgements}
    return {name: Judgements.of(data.judgements[data.judgements["model"] == name]) for name in names}


@dataclass(frozen=True, eq=False)
class _Comparison:
    """One call of `compare_annotator_groups`, with only the annotators whose groups may be shown."""

    field: str
    name: str
    annotators: pd.DataFrame
    depicted: pd.DataFrame | None
    scopes: str
    sizes: dict[tuple[str, str], int]  # annotators by identity group ("" for all) and group


def _comparisons(data: StudyData, grouping: Grouping, model: str) -> Iterator[_Comparison]:
    """A field is one comparison; in a field with several values, each value is compared with all others."""
    visible = grouping.visible.get(model, [])
    sizes = {(about, group): number for (m, about, group), number in grouping.sizes.items() if m == model}
    # Each pair has a row per identity group only if there are few pairs and all of these rows may be shown.
    by_identity_group = len(visible) <= MOST_BY_GROUP and grouping.each_identity_group.get(model, False)
    scopes = "both" if by_identity_group else "all"
    if grouping.field in SEVERAL_VALUES:
        yield from _one_against_others(grouping, model)
    elif len(visible) < 2:
        return
    elif grouping.field != RELATION:
        people = grouping.memberships[["annotator", "group"]]
        people = people[people["group"].isin(visible)]
        yield _Comparison(grouping.field, grouping.field, people, None, scopes, sizes)
    elif not grouping.hidden[model]:
        # A permutation assigns whole profiles, and thus all relations: either all are shown or none.
        places = annotator_places(data.profiles)
        yield _Comparison(grouping.field, grouping.field, places, data.depicted, scopes, sizes)


def _one_against_others(grouping: Grouping, model: str) -> Iterator[_Comparison]:
    respondents = grouping.respondents.get(model, frozenset())
    size = {group: grouping.sizes[model, "", group] for group in grouping.visible.get(model, [])}
    for value in sorted(sorted(size, key=lambda group: (-size[group], group))[:MOST_VALUES]):
        inside = frozenset(grouping.memberships.loc[grouping.memberships["group"] == value, "annotator"])
        others_label = _OTHERS.format(value)
        people = pd.DataFrame(
            [(who, value if who in inside else others_label) for who in sorted(respondents)],
            columns=["annotator", "group"],
            dtype=object,
        )
        sizes = {("", value): size[value], ("", others_label): len(respondents) - size[value]}
        yield _Comparison(grouping.field, f"{grouping.field}: {value}", people, None, "all", sizes)


def _with_sizes(part: _Comparison, result: AnnotatorGroups) -> pd.DataFrame:
    """The differences, with the number of annotators of each; a relation without annotators is not a group."""
    table = result.table.assign(field=part.field)
    for side in ("a", "b"):
        places = zip(table["scope_value"], table[f"group_{side}"], strict=True)
        number = pd.array([part.sizes.get(place, 0) for place in places], dtype="Int64")
        table[f"annotators_{side}"] = number
    nobody = (table["annotators_a"] == 0) | (table["annotators_b"] == 0)
    return table[~nobody]


def _hidden_rows(grouping: Grouping) -> pd.DataFrame:
    """That a field has groups too small to show, model by model."""
    return pd.DataFrame(
        {
            "field": grouping.field,
            "model": [model for model, hidden in grouping.hidden.items() if hidden],
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
