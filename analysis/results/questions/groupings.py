"""The result of a measure of a question, and the slices of answers for which it is computed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pandas as pd

ALL, MODEL, GROUP = "all", "model", "identity_group"


@dataclass(frozen=True, eq=False)
class Measured:
    """Rows of tables by name, without the columns campaign and question; what was left out, by reason; the method."""

    tables: Mapping[str, pd.DataFrame]
    left_out: Mapping[str, int] = field(default_factory=dict)
    method: str = ""


def slices(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield all answers as one item, then the answers about the images of each model, then of each group."""
    yield ALL, rows.assign(item="")
    for by in (MODEL, GROUP):
        about = rows[rows[by].notna()]
        if len(about):
            yield by, about.assign(item=about[by].astype(str))


def stacked(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """The concatenated parts; an empty frame if there are none."""
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame()
