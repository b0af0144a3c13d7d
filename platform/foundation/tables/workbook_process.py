"""A program, without Django, that prints one sheet of a workbook as JSON lines.

The reader of workbooks is written in Rust. A workbook that states a false size or unpacks to more than the available
memory ends its process, which must not be a web server or worker.

Standard input is the workbook. Arguments are the name of the sheet ("" for the first) and the limits of columns, cells,
characters per cell and bytes of memory. The first line of output is `{"rows": n}`, followed by each row as a list of
texts. On an error, `{"problem": code, …}` is the last line.
"""

import datetime as dt
import io
import json
import posixpath
import re
import resource
import sys
import zipfile
from typing import Any

from python_calamine import CalamineSheet, CalamineWorkbook

# The relationships in `_rels/.rels` and their targets: two simple patterns, which take linear time.
_RELATIONSHIP = re.compile(rb"<Relationship\b([^<>]*)>")
_TARGET = re.compile(rb'\bTarget="([^"]+)"')
OUT_OF_MEMORY = 3  # exit status
_SECONDS = 600  # of processor time; a million rows of 20 columns take a tenth of it


def main(sheet: str, most_columns: int, most_cells: int, longest_cell: int, memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    data = with_usual_names(sys.stdin.buffer.read())
    if data is None:
        _say(problem="no_workbook")
        return
    workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
    names = workbook.sheet_names
    if (sheet and sheet not in names) or not names:
        _say(problem="no_sheet", sheets=[name[:80] for name in names[:20]])
        return
    # Counted from the top left corner, so that row numbers are the same as in a spreadsheet.
    page = workbook.get_sheet_by_name(sheet) if sheet else workbook.get_sheet_by_index(0)
    height, width = _size(page)
    if width > most_columns or height * width > most_cells:
        _say(problem="too_large", rows=height, columns=width)
        return
    _print_rows(page, longest_cell)


def with_usual_names(data: bytes) -> bytes | None:
    """Return the workbook with its main part renamed to the name that the reader expects; None without main part.

    Any name is allowed, because `_rels/.rels` declares the main part; some programs write `xl/workbook22.xml`.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        if any(name.replace("\\", "/").lower().endswith("workbook.xml") for name in names):
            return data
        main = _main_part(archive.read("_rels/.rels")) if "_rels/.rels" in names else ""
        if main not in names:
            return None
        folder, old = posixpath.split(main)
        renamed = {
            main: posixpath.join(folder, "workbook.xml"),
            posixpath.join(folder, "_rels", f"{old}.rels"): posixpath.join(
                folder, "_rels", "workbook.xml.rels"
            ),
        }
        copy = io.BytesIO()
        with zipfile.ZipFile(copy, "w") as target_archive:
            for name in names:
                part = archive.read(name)
                if name in {"_rels/.rels", "[Content_Types].xml"}:
                    part = part.replace(main.encode(), renamed[main].encode())
                target_archive.writestr(renamed.get(name, name), part)
    return copy.getvalue()


def _main_part(relationships: bytes) -> str:
    """Return the name of the part declared as the workbook, or ""."""
    for relationship in _RELATIONSHIP.finditer(relationships):
        target = _TARGET.search(relationship[1])
        if target and b'/officeDocument"' in relationship[1]:
            return target[1].decode().lstrip("/")
    return ""


def _size(page: CalamineSheet) -> tuple[int, int]:
    return (page.end[0] + 1, page.end[1] + 1) if page.end is not None else (0, 0)


def _print_rows(page: CalamineSheet, longest_cell: int) -> None:
    height, _ = _size(page)
    margin = [""] * (page.start[1] if page.start is not None else 0)
    _say(rows=height)
    for number, cells in enumerate(page.iter_rows(), start=1):
        texts = margin + [text_of(cell) for cell in cells]
        if max(map(len, texts), default=0) > longest_cell:
            _say(problem="long_cell", row=number)
            return
        sys.stdout.write(json.dumps(texts) + "\n")


def text_of(value: Any) -> str:
    """Return a cell as text; `""` for an empty cell."""
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


def _say(**message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")


if __name__ == "__main__":
    try:
        main(sys.argv[1], *map(int, sys.argv[2:]))
    except MemoryError:
        sys.exit(OUT_OF_MEMORY)
