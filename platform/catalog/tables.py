"""Tables that people bring: CSV, TSV, JSON lines or an Excel workbook, read as text or refused."""

import csv
import datetime as dt
import hashlib
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from django.conf import settings
from numpy.typing import NDArray
from python_calamine import CalamineError, CalamineWorkbook

from accounts.errors import DomainError

MAX_CELL = 131_072  # characters; what no column of a table of judgements needs
_MOST_CELLS = 50_000_000
# Both are searched for at memory speed in tens of megabytes; what they find is then looked at properly.
_FAR_CELL = re.compile(rb' r="(?:[A-Za-z]{2}|[A-Za-z]?\d{7})')
_ODDLY_WRITTEN = (
    b"r='",
    b"r =",
    b"r\t=",
    b"r\n=",
    b"r\r=",
    b'r=" ',
    b"r= ",
    b"r=\t",
    b"r=\n",
    b"r=\r",
    b"\tr=",
    b"\nr=",
    b"\rr=",
)
_CELL_OR_ROW = re.compile(rb"""\br\s*=\s*["']\s*([A-Za-z]*)(\d+)""")
_DAMAGED = (CalamineError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError)
_ZIP = b"PK\x03\x04"
_LEGACY_EXCEL = b"\xd0\xcf\x11\xe0"


@dataclass(frozen=True)
class Table:
    """The cells of a table as text, column by column. `''` is an empty cell; nothing else means missing."""

    name: str  # of the file, as messages call it
    columns: dict[str, NDArray[np.object_]]
    rows: NDArray[np.int64]  # the row number that a spreadsheet shows: the header is row 1
    unreadable: tuple[tuple[int, str], ...]  # (row, why): its cells do not fit the header
    digest: str  # SHA-256 of the file

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def read(self) -> int:
        """How many rows the file has beside its header."""
        return len(self.rows) + len(self.unreadable)


def read_table(
    source: Path | BinaryIO,
    *,
    name: str | None = None,
    sheet: str | None = None,
    workbooks: bool = True,
    max_bytes: int | None = None,
) -> Table:
    """Read a table. Whether it is a workbook follows from its content, JSON lines from its name.

    Raises DomainError naming the file, and the row where there is one: missing, empty, too large, not text,
    not UTF-8, broken quoting, a cell too long, a column twice, no such sheet, a damaged workbook.
    """
    limit = settings.TABLE_MAX_BYTES if max_bytes is None else max_bytes
    name = name or Path(str(getattr(source, "name", source))).name
    data = read_bytes(source, name, max_bytes=limit)
    if data.startswith((_ZIP, _LEGACY_EXCEL)):
        if not workbooks:
            raise _refusal(name, "is a spreadsheet or archive, not a CSV file; save it as CSV (UTF-8) first")
        lines = _workbook_lines(data, name, sheet, limit)
    elif sheet is not None:
        raise _refusal(name, f"has no sheet “{sheet}”: it is not a workbook")
    elif Path(name).suffix.lower() in {".jsonl", ".ndjson"}:
        lines = _json_lines(_text(data, name), name)
    else:
        lines = _csv_lines(_text(data, name), name)
    return _table(lines, name, hashlib.sha256(data).hexdigest())


def _refusal(name: str, what: str, code: str = "table_unreadable") -> DomainError:
    return DomainError(code, f"“{name}” {what}.", fields={"file": what})


def read_bytes(source: Path | BinaryIO, name: str, *, max_bytes: int | None = None) -> bytes:
    """Return the content of a file that people bring; DomainError where it is missing, empty or too large."""
    limit = settings.TABLE_MAX_BYTES if max_bytes is None else max_bytes
    try:
        if isinstance(source, Path):
            with source.open("rb") as file:
                data = file.read(limit + 1)
        else:
            data = source.read(limit + 1)
    except OSError as error:
        raise _refusal(name, f"cannot be read: {error.strerror or error}", "file_not_readable") from error
    if len(data) > limit:
        raise _refusal(name, f"is larger than the {limit:,} bytes allowed", "table_too_large")
    if not data.strip():
        raise _refusal(name, "is empty", "table_empty")
    return data


def _text(data: bytes, name: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise _refusal(
            name, f"is not UTF-8 text (row {row}); save it as CSV (UTF-8)", "table_not_utf8"
        ) from error
    if "\0" in text:
        row = text.count("\n", 0, text.index("\0")) + 1
        raise _refusal(name, f"is not a text file: row {row} holds a NUL character", "table_binary")
    return text


def _csv_lines(text: str, name: str) -> list[Sequence[Any]]:
    header = text.split("\n", 1)[0]
    # The mark that cuts the header most: European exports use semicolons, some tools tabs.
    delimiter = max(",;\t", key=lambda mark: (header.count(mark), mark == ","))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    lines: list[Sequence[Any]] = []
    try:
        for line in reader:
            lines.append(line)  # noqa: PERF402 -- how many were read tells the row of an error
    except csv.Error as error:
        row = len(lines) + 1
        if "field larger" in str(error):
            what = f"has a cell of more than {MAX_CELL:,} characters in row {row}"
        else:
            what = f"is not a well-formed CSV file: {error} in row {row}"
        raise _refusal(name, what, "table_not_csv") from error
    return lines


def _json_lines(text: str, name: str) -> list[Sequence[Any]]:
    records: list[dict[str, Any] | None] = []
    # Not splitlines(): a JSON string may hold other line separators as they are.
    for row, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            records.append(None)
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _refusal(name, f"is not JSON in line {row}", "table_not_json") from error
        if not isinstance(record, dict):
            raise _refusal(name, f"holds something other than an object in line {row}", "table_not_json")
        records.append(record)
    columns = list(dict.fromkeys(key for record in records if record for key in record))
    return [columns, *([record.get(column) for column in columns] if record else [] for record in records)]


def _workbook_lines(data: bytes, name: str, sheet: str | None, limit: int) -> list[Sequence[Any]]:
    if not data.startswith(_ZIP):
        raise _refusal(name, "is an old Excel file; save it as .xlsx or as CSV (UTF-8)")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_archive(archive, name, limit)
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
        if sheet is not None and sheet not in workbook.sheet_names:
            raise _refusal(
                name, f"has no sheet “{sheet}” (it has {', '.join(workbook.sheet_names)})", "no_sheet"
            )
        # Not skipping empty space at the top: row numbers must be those a spreadsheet shows.
        page = workbook.get_sheet_by_name(sheet) if sheet is not None else workbook.get_sheet_by_index(0)
        lines: list[Sequence[Any]] = page.to_python(skip_empty_area=False)
    except _DAMAGED as error:
        raise _refusal(name, "is not a workbook that can be read") from error
    return lines


def _check_archive(archive: zipfile.ZipFile, name: str, limit: int) -> None:
    """Refuse what is no .xlsx, unpacks to too much, or has a cell so far out that the sheet would fill the memory."""
    parts = archive.infolist()
    if sum(part.file_size for part in parts) > limit:
        raise _refusal(name, f"unpacks to more than the {limit:,} bytes allowed", "table_too_large")
    if not any(part.filename == "xl/workbook.xml" for part in parts):
        raise _refusal(name, "is an archive but not an .xlsx workbook")
    for part in parts:
        if part.filename.endswith(".xml"):
            content = archive.read(part)
            # The reader lays a sheet out as one rectangle up to its farthest cell. Sheets of one-letter columns
            # and up to 999,999 rows are always small enough; others are measured.
            suspect = _FAR_CELL.search(content) or any(mark in content for mark in _ODDLY_WRITTEN)
            if suspect and _rectangle(content) > _MOST_CELLS:
                raise _refusal(name, f"has a sheet of more than {_MOST_CELLS:,} cells", "table_too_large")


def _rectangle(sheet: bytes) -> int:
    rows = columns = 1
    for match in _CELL_OR_ROW.finditer(sheet):
        # Whatever has more letters or digits than any spreadsheet is as far out as can be.
        rows = max(rows, int(match[2][:9]))
        columns = max(columns, 26 ** len(match[1][:5]))
    return rows * columns


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else str(value)


def _table(lines: list[Sequence[Any]], name: str, digest: str) -> Table:
    # JSON lines have no header line: the object of line 1 is row 1.
    first = 1 if Path(name).suffix.lower() in {".jsonl", ".ndjson"} else 2
    if not lines:
        raise _refusal(name, "is empty", "table_empty")
    header = [_cell(cell).strip() for cell in lines[0]]
    _check_header(header, name)
    rows: list[int] = []
    fitting: list[Sequence[Any]] = []
    unreadable: list[tuple[int, str]] = []
    for row, line in enumerate(lines[1:], start=first):
        if len(line) == len(header):
            rows.append(row)
            fitting.append(line)
        elif line:
            unreadable.append((row, f"{len(line)} cells where the header has {len(header)}"))
    columns = {}
    for position, column in enumerate(header):
        if column:
            columns[column] = _column(line[position] for line in fitting)
    return Table(name, columns, np.array(rows, dtype=np.int64), tuple(unreadable), digest)


def _check_header(header: list[str], name: str) -> None:
    named = [column for column in header if column]
    if not named:
        raise _refusal(name, "has no header row: row 1 names no column", "table_no_header")
    twice = next((column for column in named if named.count(column) > 1), None)
    if twice is not None:
        raise _refusal(name, f"has two columns called “{twice}”", "table_column_twice")


def _column(cells: Iterable[Any]) -> NDArray[np.object_]:
    values = list(cells)
    if not set(map(type, values)) <= {str}:
        values = [_cell(value) for value in values]
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
