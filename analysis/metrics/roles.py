"""Which attributes are stereotypes of which group."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.judgements import Judgements
from analysis.metrics.validation import first, require_columns, require_filled

STEREOTYPE, RANDOM = "stereotype", "random"


def stereotype_cells(data: Judgements, roles: Any) -> np.ndarray:
    """Per cell, whether its attribute is a stereotype of its group. Pairs that `roles` does not name are
    random.

    `roles`: DataFrame identity_group, attribute, role ('stereotype' | 'random'); the caller has applied
    min_raters.
    """
    roles = require_columns(roles, "roles", ("identity_group", "attribute", "role"))
    require_filled(roles, "roles", ("identity_group", "attribute", "role"))
    unknown = ~roles["role"].isin([STEREOTYPE, RANDOM]).to_numpy()
    if unknown.any():
        raise ValueError(
            f"roles: role must be 'stereotype' or 'random', got {first(roles['role'], unknown)!r}"
        )
    pairs = roles[["identity_group", "attribute", "role"]].drop_duplicates()
    torn = pairs.duplicated(["identity_group", "attribute"]).to_numpy()
    if torn.any():
        row = pairs.iloc[int(np.argmax(torn))]
        raise ValueError(
            f"roles: ({row['identity_group']!r}, {row['attribute']!r}) is both stereotype and random"
        )
    return pair_rows(data, pairs[(pairs["role"] == STEREOTYPE).to_numpy()]) >= 0


def pair_rows(data: Judgements, pairs: pd.DataFrame) -> np.ndarray:
    """Per cell, the row of `pairs` (identity_group, attribute; distinct) that names it, or -1."""
    group = pd.Index(data.group_names).get_indexer(pairs["identity_group"].to_numpy(dtype=object))
    attribute = pd.Index(data.attribute_names).get_indexer(pairs["attribute"].to_numpy(dtype=object))
    known = np.flatnonzero((group >= 0) & (attribute >= 0))
    width = len(data.attribute_names) + 1
    keys = group[known] * width + attribute[known]
    order = np.argsort(keys, kind="stable")
    wanted = data.cell_group.astype(np.int64) * width + data.cell_attribute
    if not len(known):
        return np.full(len(wanted), -1)
    place = np.minimum(np.searchsorted(keys[order], wanted), len(known) - 1)
    return np.where(keys[order][place] == wanted, known[order][place], -1)
