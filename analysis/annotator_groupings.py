"""Which groups of annotators may be shown: by each part of the profile, and by how they relate to who is depicted.

Nobody is described alone: a group that fewer than `LEAST_ANNOTATORS` people make up is not shown by itself, and
where those left over by the groups shown are so few, the smallest of these is folded in with them.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.loading import StudyData
from analysis.metrics.annotator_levels import RELATIONS, Levels, levels_of
from analysis.metrics.judgements import Judgements

LEAST_ANNOTATORS = 5
RELATION = "relation_to_depicted"


@dataclass(frozen=True, eq=False)
class Grouping:
    """The groups of one field that may be shown: field, group, annotator[, identity_group: about whom].

    `members`: how many annotators each has; `everybody` filled the field in; `folded`: some are in no group
    that is shown.
    """

    field: str
    memberships: pd.DataFrame
    members: dict[str, int]
    everybody: frozenset[str]
    folded: bool


def groupings(data: StudyData, judgements: Judgements) -> list[Grouping]:
    """The groups by every field that somebody filled in, and by the relation to the depicted."""
    judged = data.profiles[data.profiles["annotator"].isin(judgements.annotator_names)]
    found = [_by_field(str(field), said) for field, said in judged.groupby("field", sort=True)]
    relation = _by_relation(data, judged, judgements)
    return [*found, *([relation] if relation is not None else [])]


def _by_field(field: str, said: pd.DataFrame) -> Grouping:
    """`said`: annotator, value; several values of one annotator put them in several groups."""
    people = said.groupby("value", sort=True)["annotator"].agg(frozenset).to_dict()
    everybody = frozenset(said["annotator"])
    shown = {str(value): who for value, who in people.items() if len(who) >= LEAST_ANNOTATORS}
    while shown and 0 < len(everybody.difference(*shown.values())) < LEAST_ANNOTATORS:
        del shown[min(shown, key=lambda value: (len(shown[value]), value))]
    rows = [(field, value, one) for value, who in shown.items() for one in sorted(who)]
    return Grouping(
        field=field,
        memberships=pd.DataFrame(rows, columns=["field", "group", "annotator"], dtype=object),
        members={value: len(who) for value, who in shown.items()},
        everybody=everybody,
        folded=bool(everybody.difference(*shown.values())),
    )


def own_places(judged: pd.DataFrame) -> pd.DataFrame:
    """Nationality and region of those who gave either: annotator, nationality, region."""
    columns = {"nationality": "nationality", "region_of_origin": "region"}
    mine = judged[judged["field"].isin(columns)]
    wide = mine.pivot(index="annotator", columns="field", values="value").reindex(columns=list(columns))
    return wide.rename(columns=columns).reset_index().astype(object)


def _by_relation(data: StudyData, judged: pd.DataFrame, judgements: Judgements) -> Grouping | None:
    own = own_places(judged)
    if own.empty:
        return None
    levels = levels_of(judgements, own, data.depicted)
    level = levels.of_rows(judgements)
    members = {
        name: len(np.unique(judgements.row_annotator[level == code])) for code, name in enumerate(RELATIONS)
    }
    shown = [name for name in RELATIONS if members[name] >= LEAST_ANNOTATORS]
    rows = [
        (RELATION, name, judgements.annotator_names[who], judgements.group_names[group])
        for name in shown
        for group, who in zip(*_pairs(levels, RELATIONS.index(name)), strict=True)
    ]
    return Grouping(
        field=RELATION,
        memberships=pd.DataFrame(
            rows, columns=["field", "group", "annotator", "identity_group"], dtype=object
        ),
        members={name: members[name] for name in shown},
        everybody=frozenset(own["annotator"]),
        folded=any(0 < number < LEAST_ANNOTATORS for number in members.values()),
    )


def _pairs(levels: Levels, code: int) -> tuple[np.ndarray, np.ndarray]:
    """The (identity group, annotator) pairs of a level."""
    known = np.flatnonzero(levels.profile >= 0)
    group, place = np.nonzero(levels.level_of[:, levels.profile[known]] == code)
    return group, known[place]


def memberships(found: list[Grouping]) -> pd.DataFrame:
    """All groups that may be shown, as `sensitivity` takes them."""
    parts = [one.memberships for one in found if len(one.memberships)]
    columns = ["field", "group", "annotator", "identity_group"]
    return pd.concat(parts).reindex(columns=columns) if parts else pd.DataFrame(columns=columns)
