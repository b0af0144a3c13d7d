"""Checks of the arguments of public functions. Every message names the argument and the wrong value."""

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array


def require_columns(frame: Any, argument: str, columns: Iterable[str]) -> pd.DataFrame:
    if not isinstance(frame, pd.DataFrame):
        raise ValueError(f"{argument}: expected a DataFrame, got {type(frame).__name__}")
    absent = [column for column in columns if column not in frame.columns]
    if absent:
        raise ValueError(
            f"{argument}: column {absent[0]!r} is missing (it has {list(map(str, frame.columns))})"
        )
    return frame


def require_filled(frame: pd.DataFrame, argument: str, columns: Iterable[str]) -> None:
    for column in columns:
        empty = frame[column].isna().to_numpy()
        if empty.any():
            row = first_value(frame.index.to_series(), empty)
            raise ValueError(
                f"{argument}: column {column!r} is empty in {int(empty.sum())} rows, first row {row!r}"
            )


def first_value(values: pd.Series, wrong: Array) -> Any:
    """The first wrong value, for a message."""
    value = values.iloc[int(np.argmax(wrong))]
    return value.item() if isinstance(value, np.generic) else value


def binary(values: pd.Series, argument: str) -> Array:
    """The column as booleans; only 0, 1, False and True are answers."""
    if values.dtype == bool:
        return values.to_numpy()
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iu":
        whole = values.to_numpy()
        if not len(whole) or (whole.min() >= 0 and whole.max() <= 1):
            return whole.astype(bool)
    number = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    wrong = ~((number == 0) | (number == 1))
    if wrong.any():
        raise ValueError(
            f"{argument}: column {values.name!r} must contain 0 or 1, got {first_value(values, wrong)!r}"
        )
    return np.asarray(number == 1)


def finite(values: pd.Series, argument: str) -> Array:
    number = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    wrong = ~np.isfinite(number)
    if wrong.any():
        raise ValueError(
            f"{argument}: column {values.name!r} must contain numbers, got {first_value(values, wrong)!r}"
        )
    return number


def require_choice(value: Any, argument: str, choices: Collection[Any]) -> None:
    if value not in choices:
        raise ValueError(f"{argument}: {value!r} is not one of {', '.join(map(repr, choices))}")


def require_whole(value: Any, argument: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{argument}: expected a whole number of at least {least}, got {value!r}")
    return int(value)


def require_share(value: Any, argument: str) -> float:
    if not isinstance(value, (int, float, np.integer, np.floating)) or not 0 <= value <= 1:
        raise ValueError(f"{argument}: expected a number between 0 and 1, got {value!r}")
    return float(value)
