"""Which attributes are stereotypes of which group."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.judgements import Judgements
from analysis.metrics.data.validation import (
    finite,
    first_value,
    require_choice,
    require_columns,
    require_filled,
    require_whole,
)

STEREOTYPE, RANDOM = "stereotype", "random"
SEPARATE, SUMMED = "separate", "summed"
RATER_POOLS = (SEPARATE, SUMMED)
IN_REGION, OUT_REGION = "in_region_stereotype", "out_region_stereotype"


def assign_roles(associations: Any, *, min_raters: int = 2, rater_pools: str = SEPARATE) -> pd.DataFrame:
    """The listed pairs with their role, as input for the measures.

    A pair is a stereotype when at least `min_raters` raters *of one pool* called it one:
    in_region_stereotype ≥ min_raters or out_region_stereotype ≥ min_raters, as in the table released with
    ViSAGe (Jha et al. 2024). `rater_pools="summed"` compares the sum of both pools with `min_raters` instead.

    `associations`: DataFrame identity_group, attribute, in_region_stereotype, out_region_stereotype (numbers of raters
    who called the pair a stereotype). Returns a copy with the column `role` ('stereotype' | 'random'). Missing data: a
    missing count is 0; a pair with neither count is a stereotype because it is listed. Raises ValueError for a missing
    column, an empty group or attribute, a negative or infinite count, or an unknown pool rule.

    >>> listed = pd.DataFrame({"identity_group": "Aru", "attribute": ["hat", "boat", "kite"],
    ...                        "in_region_stereotype": [2, 1, None], "out_region_stereotype": [0, 1, None]})
    >>> assign_roles(listed)["role"].tolist()
    ['stereotype', 'random', 'stereotype']
    >>> assign_roles(listed, rater_pools="summed")["role"].tolist()
    ['stereotype', 'stereotype', 'stereotype']
    """
    require_choice(rater_pools, "rater_pools", RATER_POOLS)
    min_raters = require_whole(min_raters, "min_raters", 1)
    keys = ("identity_group", "attribute")
    checked: pd.DataFrame = require_columns(associations, "associations", (*keys, IN_REGION, OUT_REGION))
    require_filled(checked, "associations", keys)
    inside, outside = (_raters(checked[pool]) for pool in (IN_REGION, OUT_REGION))
    raters = inside + outside if rater_pools == SUMMED else np.maximum(inside, outside)
    uncounted = (checked[IN_REGION].isna() & checked[OUT_REGION].isna()).to_numpy()
    return checked.assign(role=np.where(uncounted | (raters >= min_raters), STEREOTYPE, RANDOM))


def _raters(counts: pd.Series) -> Array:
    number = finite(counts.fillna(0), "associations")
    if (number < 0).any():
        raise ValueError(
            f"associations: column {counts.name!r} must not be negative, got {first_value(counts, number < 0)!r}"
        )
    return number


def stereotype_cells(data: Judgements, roles: Any) -> Array:
    """Per cell, whether its attribute is a stereotype of its group. Pairs that are not in `roles` are random.

    `roles`: DataFrame identity_group, attribute, role ('stereotype' | 'random'); see
    `assign_roles`.
    """
    roles = require_columns(roles, "roles", ("identity_group", "attribute", "role"))
    require_filled(roles, "roles", ("identity_group", "attribute", "role"))
    unknown = ~roles["role"].isin([STEREOTYPE, RANDOM]).to_numpy()
    if unknown.any():
        raise ValueError(
            f"roles: role must be 'stereotype' or 'random', got {first_value(roles['role'], unknown)!r}"
        )
    pairs = roles[["identity_group", "attribute", "role"]].drop_duplicates()
    torn = pairs.duplicated(["identity_group", "attribute"]).to_numpy()
    if torn.any():
        row = pairs.iloc[int(np.argmax(torn))]
        raise ValueError(
            f"roles: ({row['identity_group']!r}, {row['attribute']!r}) is both stereotype and random"
        )
    return pair_rows(data, pairs[(pairs["role"] == STEREOTYPE).to_numpy()]) >= 0


def pair_rows(data: Judgements, pairs: pd.DataFrame) -> Array:
    """Per cell, the row of `pairs` (identity_group, attribute; distinct) with its pair, or -1."""
    group = pd.Index(data.group_names).get_indexer(pd.Index(pairs["identity_group"], dtype=object))
    attribute = pd.Index(data.attribute_names).get_indexer(pd.Index(pairs["attribute"], dtype=object))
    matched = np.flatnonzero((group >= 0) & (attribute >= 0))
    width = len(data.attribute_names) + 1
    keys = group[matched] * width + attribute[matched]
    order = np.argsort(keys, kind="stable")
    cell_keys = data.cell_group.astype(np.int64) * width + data.cell_attribute
    if not len(matched):
        return np.full(len(cell_keys), -1)
    place = np.minimum(np.searchsorted(keys[order], cell_keys), len(matched) - 1)
    return np.where(keys[order][place] == cell_keys, matched[order][place], -1)
