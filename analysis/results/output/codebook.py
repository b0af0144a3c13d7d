"""The codebook of results: the meaning and the unit of each column of each table."""

import csv
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from analysis.results.output.csv_tables import rows_to_csv

CODEBOOK = "codebook.csv"
HEADER = ("table", "column", "unit", "meaning")
# Meanings are data: `tables` names tables, several (with spaces between), or a pattern (`pairs_*`, `*`).
_COLUMNS = Path(__file__).with_name("columns.csv")


def codebook_csv(tables: Mapping[str, Sequence[str]]) -> str:
    """Return the codebook as CSV: a row per column of `tables` (columns by name of table), in their order.

    A column without a meaning has an empty cell.
    """
    return rows_to_csv(
        HEADER,
        ((table, column, *meaning(table, column)) for table, columns in tables.items() for column in columns),
    )


def meaning(table: str, column: str) -> tuple[str, str]:
    """Return unit and meaning of a column; the table’s own entry has priority over an entry for several tables."""
    for tables, unit, words in _entries().get(column, ()):
        if any(fnmatchcase(table, pattern) for pattern in tables.split()):
            return unit, words
    return "", ""


@cache
def _entries() -> dict[str, list[tuple[str, str, str]]]:
    """The entries of each column, names of tables before patterns, and a pattern before one for all tables."""
    entries: dict[str, list[tuple[str, str, str]]] = {}
    with _COLUMNS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            entries.setdefault(row["column"], []).append((row["tables"], row["unit"], row["meaning"]))
    for column in entries.values():
        column.sort(key=lambda entry: (entry[0] == "*", "*" in entry[0]))
    return entries
