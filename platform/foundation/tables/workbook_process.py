"""Prints one sheet of a workbook as JSON lines: run as a process of its own, without Django.

The reader of workbooks is written in Rust. Where a workbook lies about its size or unpacks to more than there is,
it ends the whole process, which must not be the web server's or a worker's; here it ends this one.

Standard input is the workbook; arguments are the name of the sheet ("" for the first) and the most columns, cells,
characters of a cell and bytes of memory. The first line that is printed is `{"rows": n}`, and each further one a row
as a list of texts; or it is `{"problem": code, …}` and the last.
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

# What `_rels/.rels` says of each part, and in it the address: two simple searches take as long as the file is.
_RELATIONSHIP = re.compile(rb"<Relationship\b([^<>]*)>")
_TARGET = re.compile(rb'\bTarget="([^"]+)"')
OUT_OF_MEMORY = 3  # the exit status
_SECONDS = 600  # of the processor; a million rows of twenty columns take a tenth of it


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
    # Counted from the top left corner, so that row numbers are those a spreadsheet shows.
    page = workbook.get_sheet_by_name(sheet) if sheet else workbook.get_sheet_by_index(0)
    height, width = _size(page)
    if width > most_columns or height * width > most_cells:
        _say(problem="too_large", rows=height, columns=width)
        return
    _print_rows(page, longest_cell)


def with_usual_names(data: bytes) -> bytes | None:
    """Return a workbook whose main part has the name that the reader looks for; None where it has no such part.

    Any name is allowed, as `_rels/.rels` says which part it is; some programs write `xl/workbook22.xml`.
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
    """Return the name of the part that is declared as the workbook; "" if there is none."""
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
    """Return a cell as text; `""` is an empty one."""
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
