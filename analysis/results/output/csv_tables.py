"""Tables as CSV: empty cell = null, and no cell that a spreadsheet would run as a formula."""

import csv
import io
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_RUNS = ("=", "+", "-", "@", "\t", "\n")


def to_csv(frame: "pd.DataFrame") -> str:
    """Return the frame as CSV. Numbers keep every digit; text like a formula gets an apostrophe in front."""
    columns = [frame[name].tolist() for name in frame.columns]
    missing = [frame[name].isna().tolist() for name in frame.columns]
    cells = (
        ["" if is_null else value for value, is_null in zip(row, nulls, strict=True)]
        for row, nulls in zip(
            zip(*columns, strict=True) if columns else [],
            zip(*missing, strict=True) if missing else [],
            strict=True,
        )
    )
    return rows_to_csv(list(frame.columns), cells)


def rows_to_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return rows of plain values as CSV, by the same rules."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([cell(name) for name in columns])
    writer.writerows([cell(value) for value in row] for row in rows)
    return text.getvalue()


def cell(value: Any) -> Any:
    """Return the contents of a cell; text that looks like a formula gets an apostrophe in front."""
    if value is None:
        return ""
    if isinstance(value, str):
        # The writer does not quote a single carriage return, which readers would treat as the end of the row.
        value = value.replace("\r\n", "\n").replace("\r", "\n")
        return "'" + value if value.startswith(_RUNS) else value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"a table must not hold {value}: undefined numbers are null")
    return value
