"""Reading Excel workbooks in a separate process with limited memory and time."""

import io
import json
import os
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from foundation.tables import workbook_process
from foundation.tables.limits import MAX_CELL, MAX_CELLS, MAX_COLUMNS, refusal

# Exceptions of `zipfile` for damaged archives.
ZIP_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
    OverflowError,
)
# Bytes; enough for a million rows of 10 columns.
MAX_MEMORY = 1024**3


def workbook_rows(data: bytes, *, name: str, sheet: str | None, max_bytes: int) -> Iterator[list[str]]:
    """Yield the rows of a sheet as texts, from row 1 of the spreadsheet. Raises DomainError."""
    _check_archive(data, name, max_bytes)
    arguments = (sheet or "", MAX_COLUMNS, MAX_CELLS, MAX_CELL, MAX_MEMORY)
    reader = subprocess.Popen(  # noqa: S603 -- our own program; of what people bring, a name at most
        [sys.executable, "-I", workbook_process.__file__, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8"},
        cwd=Path(workbook_process.__file__).parent,
    )
    with reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        try:
            yield from _rows_of(reader, data, name, sheet)
        finally:
            reader.kill()


def _rows_of(
    reader: "subprocess.Popen[bytes]", data: bytes, name: str, sheet: str | None
) -> Iterator[list[str]]:
    assert reader.stdin is not None
    assert reader.stdout is not None
    try:
        reader.stdin.write(data)
        reader.stdin.close()
    except BrokenPipeError:
        pass  # the reader ended early; its output, or missing output, shows the reason
    message = json.loads(reader.stdout.readline() or "null")
    rows = 0
    for line in reader.stdout if message and "rows" in message else ():
        row = json.loads(line)
        if isinstance(row, dict):
            message = row
            break
        rows += 1
        yield row
    if message is None or "problem" in message or rows != message["rows"]:
        raise _problem(message if message and "problem" in message else None, name, sheet, reader.wait())


def _problem(message: dict[str, Any] | None, name: str, sheet: str | None, status: int) -> Exception:
    if message is None:
        # The reader exceeded its memory: it was ended by a signal, or Python ran out of memory.
        if status < 0 or status == workbook_process.OUT_OF_MEMORY:
            return refusal(
                name,
                "needs more memory than a table may take; look for cells far outside the table, "
                "or save it as CSV (UTF-8)",
                "table_too_large",
            )
        return refusal(name, "is not a workbook that can be read")
    if message["problem"] == "no_sheet":
        sheets = ", ".join(message["sheets"])
        return refusal(
            name, f"has no sheet “{sheet}” (it has {sheets})" if sheet else "has no sheet", "no_sheet"
        )
    if message["problem"] == "no_workbook":
        return refusal(name, "is an archive but not an .xlsx workbook")
    if message["problem"] == "long_cell":
        return refusal(name, f"has a cell of more than {MAX_CELL:,} characters in row {message['row']}")
    return refusal(
        name,
        f"has a sheet of {message['rows']:,} rows and {message['columns']:,} columns; "
        f"{MAX_COLUMNS:,} columns and {MAX_CELLS:,} cells are allowed",
        "table_too_large",
    )


def _check_archive(data: bytes, name: str, limit: int) -> None:
    """Refuse an archive whose declared size is too large; the declared size may be false."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
    except ZIP_DAMAGE as error:
        raise refusal(name, "is not a workbook that can be read") from error
    if unpacked > limit:
        raise refusal(name, f"unpacks to more than the {limit:,} bytes allowed", "table_too_large")
