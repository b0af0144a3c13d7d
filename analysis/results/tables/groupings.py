"""Which groups of annotators may be shown: by each field of the profile, and by their relation to the depicted group.

No result may describe fewer than `LEAST_ANNOTATORS` people, not even by subtraction. In each model, a group is shown if
at least that many people are in it and at least that many are outside it. If fewer people remain in no shown group, the
smallest shown groups are hidden as well, until enough or none remain. If a field allows several values, the overlaps
and differences of shown groups must also be empty or large enough. Results for single identity groups are shown only if
all of this holds for every identity group.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.metrics.annotators.levels import RELATIONS, levels_of
from analysis.metrics.data.arrays import Array
from analysis.metrics.data.judgements import Judgements
from analysis.results.data.labels import StudyData
from annotation.assignment.quotas import SEVERAL_VALUES

LEAST_ANNOTATORS = 5
RELATION = "relation_to_depicted"

# Annotators; for relations to the depicted group (annotator, identity group), because one person is in several groups.
Members = frozenset[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class Grouping:
    """The groups of one field that may be shown.

    `memberships`: field, group, annotator, identity_group (the depicted group; null for all). By model: `visible`, the
    groups that may be shown; `each_identity_group`, whether they may be shown for single identity groups too; `hidden`,
    whether somebody is in no shown group; `respondents`, the annotators who filled in the field. `sizes`: annotators
    by model, identity group ("" for all) and group.
    """

    field: str
    memberships: pd.DataFrame
    visible: dict[str, list[str]]
    each_identity_group: dict[str, bool]
    hidden: dict[str, bool]
    respondents: dict[str, frozenset[str]]
    sizes: dict[tuple[str, str, str], int]


def groupings(data: StudyData, judgements: Judgements) -> list[Grouping]:
    """The groups by every field that somebody filled in, and by the relation to the depicted."""
    profiles = data.profiles[data.profiles["annotator"].isin(judgements.annotator_names)]
    judged = _judged(judgements, np.zeros(len(judgements.row_unit), dtype=int))
    allowed = [
        _grouping(
            str(field),
            judged.drop(columns="group").merge(
                rows[["annotator", "value"]].rename(columns={"value": "group"}), on="annotator"
            ),
        )
        for field, rows in profiles.groupby("field", sort=True)
    ]
    places = annotator_places(profiles)
    if len(places):
        level = levels_of(judgements, places, data.depicted).of_rows(judgements)
        related = _judged(judgements, level)
        related["group"] = np.array(RELATIONS, dtype=object)[related["group"].to_numpy(dtype=int)]
        allowed.append(_grouping(RELATION, related))
    return allowed


def annotator_places(profiles: pd.DataFrame) -> pd.DataFrame:
    """Nationality and region of those who gave either: annotator, nationality, region."""
    columns = {"nationality": "nationality", "region_of_origin": "region"}
    place_rows = profiles[profiles["field"].isin(columns)]
    wide = place_rows.pivot(index="annotator", columns="field", values="value").reindex(columns=list(columns))
    return wide.rename(columns=columns).reset_index().astype(object)


def _judged(judgements: Judgements, level: Array) -> pd.DataFrame:
    """Judgements by group: model, identity_group, annotator, group (a code of `level` from 0)."""
    cell = judgements.unit_cell[judgements.row_unit]
    counted = (level >= 0) & ~judgements.cell_is_none[cell]
    cell = cell[counted]
    codes = (judgements.cell_model[cell], judgements.cell_group[cell], judgements.row_annotator[counted])
    names = (judgements.model_names, judgements.group_names, judgements.annotator_names)
    shape = (*map(len, names), len(RELATIONS))
    different = np.unique(np.ravel_multi_index((*codes, level[counted]), shape))
    *keys, group = np.unravel_index(different, shape)
    columns = ("model", "identity_group", "annotator")
    values = {
        column: np.asarray(name, dtype=object)[code]
        for column, name, code in zip(columns, names, keys, strict=True)
    }
    return pd.DataFrame(values | {"group": group}, dtype=object)


def _grouping(field: str, rows: pd.DataFrame) -> Grouping:
    """`rows`: model, identity_group, annotator, group; several groups of one annotator are several rows."""
    # Membership depends on the depicted group only for relations.
    rows = rows.assign(about=rows["identity_group"] if field == RELATION else "")
    visible: dict[str, list[str]] = {}
    each_identity_group: dict[str, bool] = {}
    hidden: dict[str, bool] = {}
    respondents: dict[str, frozenset[str]] = {}
    sizes: dict[tuple[str, str, str], int] = {}
    for name, model_rows in rows.groupby("model", sort=True):
        model = str(name)
        parts = _parts(model_rows)
        visible_parts = _visible_groups(parts, several=field in SEVERAL_VALUES)
        visible[model] = sorted(visible_parts)
        everybody = frozenset[tuple[str, str]]().union(*parts.values())
        hidden[model] = bool(everybody.difference(*visible_parts.values()))
        respondents[model] = frozenset(model_rows["annotator"])
        sizes |= {(model, "", group): _people(who) for group, who in parts.items()}
        safe = []
        for depicted, of_one in model_rows.groupby("identity_group", sort=True):
            cell = _parts(of_one)
            safe.append(_all_safe(cell, visible_parts))
            sizes |= {(model, str(depicted), group): _people(who) for group, who in cell.items()}
        each_identity_group[model] = all(safe)
    visible_groups = {(model, group) for model, groups in visible.items() for group in groups}
    is_visible = rows["group"].isin({group for _, group in visible_groups})
    memberships = rows.loc[is_visible, ["group", "annotator", "about"]].drop_duplicates()
    memberships = memberships.sort_values(["group", "annotator", "about"], ignore_index=True)
    about = memberships.pop("about")
    memberships["identity_group"] = about.where(about != "", None)
    memberships.insert(0, "field", field)
    return Grouping(
        field, memberships.astype(object), visible, each_identity_group, hidden, respondents, sizes
    )


def _parts(rows: pd.DataFrame) -> dict[str, Members]:
    return {
        str(group): frozenset(zip(group_rows["annotator"], group_rows["about"], strict=True))
        for group, group_rows in rows.groupby("group", sort=True)
    }


def _people(members: Iterable[tuple[str, str]]) -> int:
    return len({annotator for annotator, _ in members})


def _enough(members: Members) -> bool:
    return _people(members) >= LEAST_ANNOTATORS


def _nobody_or_enough(members: Members) -> bool:
    return not members or _enough(members)


def _visible_groups(parts: dict[str, Members], *, several: bool) -> dict[str, Members]:
    """The groups of one model that may be shown."""
    everybody = frozenset[tuple[str, str]]().union(*parts.values())
    visible = {group: who for group, who in parts.items() if _enough(who) and _enough(everybody - who)}
    if several:
        separable: dict[str, Members] = {}
        for group in sorted(visible, key=lambda name: (-len(visible[name]), name)):
            if all(_apart(visible[group], members, everybody) for members in separable.values()):
                separable[group] = visible[group]
        visible = separable
    while visible and not _nobody_or_enough(everybody.difference(*visible.values())):
        del visible[min(visible, key=lambda name: (_people(visible[name]), name))]
    return visible


def _apart(a: Members, b: Members, everybody: Members) -> bool:
    """Whether no difference or overlap of two groups describes only a few people."""
    return all(map(_nobody_or_enough, (a - b, b - a, a & b, everybody - a - b)))


def _all_safe(cell: dict[str, Members], visible: Iterable[str]) -> bool:
    """Whether every shown group may be shown for one identity group, or has no annotators there."""
    everybody = frozenset[tuple[str, str]]().union(*cell.values())
    present = [cell[group] for group in visible if group in cell]
    return (
        all(_enough(who) and _enough(everybody - who) for who in present)
        and _nobody_or_enough(everybody.difference(*present))
        and all(_apart(a, b, everybody) for a, b in combinations(present, 2))
    )
