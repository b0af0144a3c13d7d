"""Reading CSV, TSV, JSON lines and Excel workbooks as text.

Every process imports this module, but few read a table, so numpy is imported in the functions that use it.
"""

import csv
import hashlib
import io
import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from django.conf import settings

from foundation.errors import DomainError
from foundation.tables.limits import (
    MAX_CELL,
    MAX_CELLS,
    MAX_COLUMNS,
    MAX_ROWS,
    refusal,
    too_many_cells,
    too_many_columns,
)
from foundation.tables.workbook_process import text_of
from foundation.tables.workbooks import workbook_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ZIP = b"PK\x03\x04"
_LEGACY_EXCEL = b"\xd0\xcf\x11\xe0"
_JSON_LINES = {".jsonl", ".ndjson"}
_NO_CHARACTER = re.compile("[\0\ud800-\udfff]")
_HEADER_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Table:
    """The cells of a table as text, by column. `''` is an empty cell; no other value means missing."""

    name: str  # of the file, for messages
    columns: "dict[str, NDArray[np.object_]]"
    rows: "NDArray[np.int64]"  # row number as in a spreadsheet, where the header is row 1
    unreadable: tuple[tuple[int, str], ...]  # (row, reason)
    digest: str  # SHA-256 of the file
    positions: frozenset[str] = frozenset()  # columns that only give the position of a row in the file

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def read(self) -> int:
        """The number of rows of the file without its header."""
        return len(self.rows) + len(self.unreadable)


def read_table(
    source: Path | BinaryIO,
    *,
    name: str | None = None,
    sheet: str | None = None,
    workbooks: bool = True,
    max_bytes: int | None = None,
    take_out_unstorable: bool = False,
) -> Table:
    """Read a table. Workbooks are recognised by their content, JSON lines by the name of the file.

    Raises DomainError, naming the file and any row, for a file that is missing, empty, too large (in bytes, rows,
    columns or cells), not text or not UTF-8, and for broken quoting, too long cells, repeated columns, an unknown sheet
    or a damaged workbook. Rows with characters that no database can store are unreadable, unless these are taken out.
    """
    limit = settings.TABLE_MAX_BYTES if max_bytes is None else max_bytes
    name = name or Path(str(getattr(source, "name", source))).name
    data = read_bytes(source, name, max_bytes=limit)
    digest = hashlib.sha256(data).hexdigest()
    if take_out_unstorable and not data.startswith((_ZIP, _LEGACY_EXCEL)):
        data = data.replace(b"\0", b"")
    rows = _rows(data, name, sheet=sheet, workbooks=workbooks, max_bytes=limit)
    if take_out_unstorable:
        rows = (list(map(storable, row)) for row in rows)
    return _table(rows, name, digest)


def _rows(
    data: bytes, name: str, *, sheet: str | None, workbooks: bool, max_bytes: int
) -> Iterator[Sequence[str]]:
    """Return all rows including the header; blank rows are empty."""
    if data.startswith((_ZIP, _LEGACY_EXCEL)):
        if not workbooks:
            raise refusal(name, "is a spreadsheet or archive, not a CSV file; save it as CSV (UTF-8) first")
        if not data.startswith(_ZIP):
            raise refusal(name, "is an old Excel file; save it as .xlsx or as CSV (UTF-8)")
        return workbook_rows(data, name=name, sheet=sheet, max_bytes=max_bytes)
    if sheet is not None:
        raise refusal(name, f"has no sheet “{sheet}”: it is not a workbook")
    if _is_json_lines(name):
        return _json_lines(_text(data, name), name)
    return _csv_lines(_text(data, name), name)


def check_header(source: BinaryIO, *, name: str, needs: Collection[str]) -> None:
    """Check the beginning of a CSV file as `read_table` would, and rewind the file; raise DomainError if invalid.

    For pages that accept a file for a worker to read. `needs` are lower-case names of required columns.
    """
    data = source.read(_HEADER_BYTES)
    source.seek(0)
    # Drop the last line, which may be incomplete.
    beginning = data if len(data) < _HEADER_BYTES else data[: data.rfind(b"\n") + 1] or data[:-4]
    if not beginning.strip():
        raise refusal(name, "is empty", "table_empty")
    lines = _rows(beginning, name, sheet=None, workbooks=False, max_bytes=_HEADER_BYTES)
    needs_columns({column.lower() for column in _header(next(lines, None), name)}, name=name, needs=needs)


def needs_columns(columns: Collection[str], *, name: str, needs: Collection[str]) -> None:
    """Raise DomainError unless `columns` contains all columns in `needs`."""
    for column in needs:
        if column not in columns:
            raise DomainError(
                "column_missing",
                f"“{name}” has no column “{column}”; it needs {', '.join(needs)}.",
                fields={"file": f"no column {column}"},
            )


def _is_json_lines(name: str) -> bool:
    return Path(name).suffix.lower() in _JSON_LINES


def read_bytes(source: Path | BinaryIO, name: str, *, max_bytes: int | None = None) -> bytes:
    """Return the content of a file; raise DomainError if it is unreadable, empty or too large."""
    limit = settings.TABLE_MAX_BYTES if max_bytes is None else max_bytes
    try:
        if isinstance(source, Path):
            with source.open("rb") as file:
                data = file.read(limit + 1)
        else:
            data = source.read(limit + 1)
    except OSError as error:
        raise refusal(name, f"cannot be read: {error.strerror or error}", "file_not_readable") from error
    if len(data) > limit:
        raise refusal(name, f"is larger than the {limit:,} bytes allowed", "table_too_large")
    if not data.strip():
        raise refusal(name, "is empty", "table_empty")
    return data


def _text(data: bytes, name: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise refusal(
            name, f"is not UTF-8 text (row {row}); save it as CSV (UTF-8)", "table_not_utf8"
        ) from error
    if "\0" in text:
        row = text.count("\n", 0, text.index("\0")) + 1
        raise refusal(name, f"is not a text file: row {row} contains a NUL character", "table_binary")
    return text


def _csv_lines(text: str, name: str) -> Iterator[Sequence[str]]:
    end = text.find("\n")
    header = text[: end if end >= 0 else None]
    # The most frequent separator in the header: European exports use semicolons, some tools tabs.
    delimiter = max(",;\t", key=lambda mark: (header.count(mark), mark == ","))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    row = 0
    try:
        for line in reader:
            row += 1
            yield line
    except csv.Error as error:
        if "field larger" in str(error):
            problem = f"has a cell of more than {MAX_CELL:,} characters in row {row + 1}"
        else:
            problem = f"is not a well-formed CSV file: {error} in row {row + 1}"
        raise refusal(name, problem, "table_not_csv") from error


def _json_lines(text: str, name: str) -> Iterator[Sequence[str]]:
    records: list[dict[str, str]] = []
    columns: dict[str, None] = {}
    # Not splitlines(): JSON strings may contain other line separators.
    for row, line in enumerate(text.split("\n"), start=1):
        record = _json_record(line, row, name) if line.strip() else {}
        columns.update(dict.fromkeys(record))
        if len(columns) > MAX_COLUMNS:
            raise refusal(
                name,
                f"names more than {MAX_COLUMNS:,} columns in its first {row} lines; {MAX_COLUMNS:,} are allowed",
                "table_too_large",
            )
        records.append(record)
        _check_size(name, rows=row, columns=len(columns))
    yield list(columns)
    for record in records:
        yield [record.get(column, "") for column in columns] if record else []


def _json_record(line: str, row: int, name: str) -> dict[str, str]:
    try:
        record = json.loads(line)
        # A value nested just within the limit for reading may be too deep for writing.
        cells = {key: text_of(cell) for key, cell in record.items()} if isinstance(record, dict) else None
    except (ValueError, RecursionError) as error:
        raise refusal(name, f"is not JSON in line {row}", "table_not_json") from error
    if cells is None:
        raise refusal(name, f"contains something other than an object in line {row}", "table_not_json")
    if max(map(len, cells.values()), default=0) > MAX_CELL:
        raise refusal(
            name, f"has a cell of more than {MAX_CELL:,} characters in line {row}", "table_not_json"
        )
    return cells


def _check_size(name: str, *, rows: int, columns: int) -> None:
    if rows > MAX_ROWS or rows * columns > MAX_CELLS:
        raise too_many_cells(name)


def _table(lines: Iterator[Sequence[str]], name: str, digest: str) -> Table:
    import numpy as np

    header = _header(next(lines, None), name)
    rows: list[int] = []
    fitting: list[Sequence[str]] = []
    unreadable: list[tuple[int, str]] = []
    # JSON lines have no header: the object in line 1 is row 1.
    first_row = 1 if _is_json_lines(name) else 2
    for row, line in enumerate(lines, start=first_row):
        _check_size(name, rows=row, columns=len(header))
        if len(line) == len(header):
            rows.append(row)
            fitting.append(line)
        elif line:
            unreadable.append((row, f"{len(line)} cells where the header has {len(header)}"))
    columns = {
        column: _column([line[position] for line in fitting])
        for position, column in enumerate(header)
        if column
    }
    table = Table(name, columns, np.array(rows, dtype=np.int64), tuple(unreadable), digest)
    return without_unstorable(table)


def _header(line: Sequence[str] | None, name: str) -> list[str]:
    if line is None:
        raise refusal(name, "is empty", "table_empty")
    if len(line) > MAX_COLUMNS:
        raise too_many_columns(name, len(line))
    header = [cell.strip() for cell in line]
    columns: set[str] = set()
    for column in filter(None, header):
        if column in columns:
            raise refusal(name, f"has two columns called “{column[:80]}”", "table_column_twice")
        if why := unstorable(column):
            raise refusal(name, f"has {why} in the name of a column", "table_not_text")
        columns.add(column)
    if not columns:
        raise refusal(name, "has no header row: row 1 names no column", "table_no_header")
    return header


def unstorable(text: str) -> str:
    """Return a description of characters in a text that no database can store, or ""."""
    match = _NO_CHARACTER.search(text)
    if match is None:
        return ""
    return "a NUL character" if match[0] == "\0" else "half of a surrogate pair"


def storable(text: str) -> str:
    """Return a text without characters that no database can store."""
    return _NO_CHARACTER.sub("", text)


def without_unstorable(table: Table) -> Table:
    """Return the table with rows that no database can store moved to `unreadable`."""
    import numpy as np

    reasons: dict[int, str] = {}
    for column, cells in table.columns.items():
        if unstorable("\n".join(cells)):
            for index, cell in enumerate(cells):
                if why := unstorable(cell):
                    reasons.setdefault(index, f"{why} in {column}")
    if not reasons:
        return table
    storable = np.ones(len(table), dtype=bool)
    storable[list(reasons)] = False
    unreadable = [*table.unreadable, *((int(table.rows[index]), why) for index, why in reasons.items())]
    return replace(
        table,
        columns={column: cells[storable] for column, cells in table.columns.items()},
        rows=table.rows[storable],
        unreadable=tuple(sorted(unreadable)),
    )


def _column(cells: list[str]) -> "NDArray[np.object_]":
    import numpy as np

    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column
