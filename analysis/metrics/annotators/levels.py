"""The annotator group of a judgement: a part of the profile, or the relation of annotator and depicted group."""

from dataclasses import dataclass
from math import lgamma

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.judgements import Judgements
from analysis.metrics.data.validation import require_columns, require_filled

IN_GROUP, SAME_REGION, OUT_GROUP = "in_group", "same_region", "out_group"
RELATIONS = (IN_GROUP, SAME_REGION, OUT_GROUP)
UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Levels:
    """`level_of[identity group, profile]` is a code into `names`, `profile[annotator]` a column of it; both −1 if
    unknown. `sizes`: the number of judging annotators in each class of equal annotators."""

    level_of: Array
    names: list[str]
    profile: Array
    sizes: list[int]

    def of_rows(self, data: Judgements) -> Array:
        """The level of each judgement; −1 if unknown, and for answers to 'none of the above'."""
        cell = data.unit_cell[data.row_unit]
        profile = self.profile[data.row_annotator]
        has_level = (profile >= 0) & ~data.cell_is_none[cell]
        level = np.full(len(cell), UNKNOWN)
        level[has_level] = self.level_of[data.cell_group[cell[has_level]], profile[has_level]]
        return level

    def log_relabellings(self) -> float:
        """log of the number of distinct ways to assign the labels."""
        return lgamma(sum(self.sizes) + 1) - sum(lgamma(size + 1) for size in self.sizes)


def levels_of(
    data: Judgements, annotator_groups: pd.DataFrame, identity_groups: pd.DataFrame | None
) -> Levels:
    """Groups named in `annotator_groups` (annotator, group); or, with `identity_groups` (identity_group,
    nationality, region), `in_group`, `same_region` or `out_group` by annotators' own nationality and region.

    An identity group may have several rows: it has all nationalities and regions in them. The level is unknown for
    annotators without a nationality, who may belong to the in-group; for annotators of another nationality without a
    region, who may belong to the same region; and for groups without nationality or region.
    """
    fields = ["group"] if identity_groups is None else ["nationality", "region"]
    annotator_groups = require_columns(annotator_groups, "annotator_groups", ("annotator", *fields))
    listed = annotator_groups[["annotator", *fields]].dropna(how="all", subset=fields).drop_duplicates()
    twice = listed["annotator"].duplicated().to_numpy()
    if twice.any():
        name = listed["annotator"].to_numpy()[int(np.argmax(twice))]
        raise ValueError(f"annotator_groups: annotator {name!r} is in more than one group")
    place = pd.Index(listed["annotator"].to_numpy(dtype=object)).get_indexer(data.annotator_names)
    judged = np.bincount(data.row_annotator, minlength=len(place)) > 0
    if identity_groups is None:
        codes, names = pd.factorize(listed["group"], sort=True)
        profile = np.where(place >= 0, codes[place] if len(codes) else UNKNOWN, UNKNOWN)
        sizes = np.bincount(profile[(profile >= 0) & judged], minlength=max(len(names), 1)).tolist()
        level_of = np.tile(np.arange(len(names)), (len(data.group_names), 1))
        return Levels(level_of, [str(name) for name in names], profile, sizes)
    # A permutation moves whole profiles; annotators with the same profile are interchangeable.
    alike = listed.groupby(fields, dropna=False).ngroup().to_numpy()
    sizes = np.unique(alike[place[(place >= 0) & judged]], return_counts=True)[1].tolist()
    return Levels(_relations(data, listed, identity_groups), list(RELATIONS), place, sizes)


def _relations(data: Judgements, listed: pd.DataFrame, identity_groups: pd.DataFrame) -> Array:
    needed = ("identity_group", "nationality", "region")
    identity_groups = require_columns(identity_groups, "identity_groups", needed)
    require_filled(identity_groups, "identity_groups", ("identity_group",))
    group = pd.Index(data.group_names).get_indexer(pd.Index(identity_groups["identity_group"], dtype=object))

    def shared(field: str) -> tuple[Array, Array]:
        """Whether depicted group and annotator share the field, and whether that is known (groups × annotators)."""
        depicted, stated = identity_groups[field], listed[field]
        matches = np.zeros((len(data.group_names), len(listed)), dtype=bool)
        has_value = np.zeros(len(data.group_names), dtype=bool)
        for code, value in zip(group[depicted.notna()], depicted.dropna(), strict=True):
            if code >= 0:
                matches[code] |= (stated == value).to_numpy(dtype=bool, na_value=False)
                has_value[code] = True
        return matches, has_value[:, None] & stated.notna().to_numpy()

    (nation, nation_known), (region, region_known) = shared("nationality"), shared("region")
    elsewhere = np.where(region, 1, np.where(region_known, 2, UNKNOWN))
    return np.where(nation, 0, np.where(nation_known, elsewhere, UNKNOWN))
