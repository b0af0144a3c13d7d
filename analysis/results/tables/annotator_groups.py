"""Groups of annotators beside each other: differences of L and θ, α within, agreement across."""

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
from analysis.results.tables.groupings import RELATION, Grouping, own_places
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
    data: StudyData, resampling: Resampling, found: list[Grouping], *, seed: int, reason: str | None = None
) -> GroupTables:
    """Differences of L and θ between every two groups of a field, α within and agreement across them.

    Model by model, for a group may be large enough in one only; `reason` is why there are no groups at all.
    """
    if not resampling.annotator_ids.usable or not found:
        reason = (reason or NO_PROFILES) if resampling.annotator_ids.usable else UNUSABLE
        return GroupTables(_joined([], 0), _joined([], 1), {"reason": reason})
    models = _models(data, resampling.judgements)
    differences, agreement = [], []
    notes: dict[str, Any] = {}
    for one in found:
        for model, judgements in models.items():
            for part in _comparisons(data, one, model):
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
                    "field": one.field,
                    "model": model,
                    "family": family if part.scopes == "both" else {part.scopes: family},
                    "permutations": result.notes["permutations"],
                    "method": result.method,
                }
        if any(one.hidden.values()):
            differences.append(_folded(one))
    return GroupTables(_joined(differences, 0), _joined(agreement, 1), notes)


def _models(data: StudyData, judgements: Judgements) -> dict[str, Judgements]:
    """The judgements of each model."""
    names = [str(name) for name in judgements.model_names]
    if len(names) == 1:
        return {names[0]: judgements}
    return {name: Judgements.of(data.judgements[data.judgements["model"] == name]) for name in names}


@dataclass(frozen=True, eq=False)
class _Comparison:
    """One call of `compare_annotator_groups`: nobody is in it but those whose groups may be shown."""

    field: str
    name: str
    annotators: pd.DataFrame
    depicted: pd.DataFrame | None
    scopes: str
    sizes: dict[tuple[str, str], int]  # annotators by identity group ("" for all) and group


def _comparisons(data: StudyData, one: Grouping, model: str) -> Iterator[_Comparison]:
    """A field is one comparison; each value of a field with several values is one against all the others."""
    shown = one.shown.get(model, [])
    sizes = {(about, group): number for (m, about, group), number in one.sizes.items() if m == model}
    # Each pair has a row per identity group only where pairs are few, and all of these rows may be shown.
    each = len(shown) <= MOST_BY_GROUP and one.each.get(model, False)
    scopes = "both" if each else "all"
    if one.field in SEVERAL_VALUES:
        yield from _one_against_others(one, model)
    elif len(shown) < 2:
        return
    elif one.field != RELATION:
        people = one.memberships[["annotator", "group"]]
        people = people[people["group"].isin(shown)]
        yield _Comparison(one.field, one.field, people, None, scopes, sizes)
    elif not one.hidden[model]:
        # A permutation hands out whole profiles, and with them every relation: all are shown or none.
        own = own_places(data.profiles)
        yield _Comparison(one.field, one.field, own, data.depicted, scopes, sizes)


def _one_against_others(one: Grouping, model: str) -> Iterator[_Comparison]:
    said = one.said.get(model, frozenset())
    size = {group: one.sizes[model, "", group] for group in one.shown.get(model, [])}
    for value in sorted(sorted(size, key=lambda group: (-size[group], group))[:MOST_VALUES]):
        inside = frozenset(one.memberships.loc[one.memberships["group"] == value, "annotator"])
        others = _OTHERS.format(value)
        people = pd.DataFrame(
            [(who, value if who in inside else others) for who in sorted(said)],
            columns=["annotator", "group"],
            dtype=object,
        )
        sizes = {("", value): size[value], ("", others): len(said) - size[value]}
        yield _Comparison(one.field, f"{one.field}: {value}", people, None, "all", sizes)


def _with_sizes(part: _Comparison, result: AnnotatorGroups) -> pd.DataFrame:
    """The differences, and how many annotators are behind each; a relation that nobody has is no group."""
    table = result.table.assign(field=part.field)
    for side in ("a", "b"):
        places = zip(table["scope_value"], table[f"group_{side}"], strict=True)
        number = pd.array([part.sizes.get(place, 0) for place in places], dtype="Int64")
        table[f"annotators_{side}"] = number
    nobody = (table["annotators_a"] == 0) | (table["annotators_b"] == 0)
    return table[~nobody]


def _folded(one: Grouping) -> pd.DataFrame:
    """That a field has groups too small to show, model by model."""
    return pd.DataFrame(
        {
            "field": one.field,
            "model": [model for model, hidden in one.hidden.items() if hidden],
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
