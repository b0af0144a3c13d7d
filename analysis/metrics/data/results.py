"""The shape of every result: a table of nullable columns, and the data it uses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd


@dataclass(frozen=True, eq=False, kw_only=True)
class Result:
    """The result of a measure.

    `table` has one row per thing measured: estimate, interval, counts, and `reason` where a number is null. `used` is
    the number of judgements (or ratings, boxes) used for the estimates; `dropped` counts what was left out, by reason;
    `notes` has values for the whole table (a smoothing constant, a mode).
    """

    table: pd.DataFrame
    used: int
    method: str
    seed: int | None = None
    resamples: int | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)

    def to_frame(self) -> pd.DataFrame:
        """The table, ready for CSV: null cells are empty, never NaN or inf."""
        return self.table.copy()

    def rows(self) -> list[dict[str, Any]]:
        """The table as plain Python values (None where null), ready for JSON."""
        columns = {str(name): as_python(column) for name, column in self.table.items()}
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def as_python(column: pd.Series) -> list[Any]:
    missing = column.isna().to_numpy()
    return [None if is_null else value for value, is_null in zip(column.tolist(), missing, strict=True)]


def numbers(values: Any) -> pd.arrays.FloatingArray:
    """Floats; every value that is not a finite number becomes null."""
    values = np.asarray(values, dtype=float)
    finite = np.isfinite(values)
    return pd.arrays.FloatingArray(np.where(finite, values, 0.0), ~finite)


def counts(values: Any, valid: Any = True) -> pd.arrays.IntegerArray:
    """Whole numbers, null where not `known`."""
    values = np.asarray(values).astype(np.int64)
    mask = ~np.broadcast_to(np.asarray(valid, dtype=bool), values.shape)
    return pd.arrays.IntegerArray(values, mask.copy())


def words(values: Any) -> pd.Series:
    """Text, with the empty string or None as null."""
    return pd.Series([None if value in ("", None) else str(value) for value in values], dtype="string")


def labels(values: Any) -> pd.Series:
    """Names, unchanged; the empty name (one unnamed model) does not become null."""
    return pd.Series([str(value) for value in values], dtype="string")
