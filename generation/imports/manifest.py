"""Manifests: tables that describe each image, as CSV with a header or one JSON object per line."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from django.conf import settings

from foundation.errors import DomainError
from foundation.tables.limits import MAX_COLUMNS, too_many_columns
from generation.imports.entries import Entry
from generation.imports.sources import Source, is_outside

FILES = ("manifest.csv", "manifest.jsonl")
COLUMNS = ("path", "group", "model", "condition", "prompt", "attribute")


def find_manifest(source: Source) -> str:
    """Return the name of the manifest in the top folder (or in the single folder around all files), or ""."""
    names = source.names()
    tops = {PurePosixPath(name).parts[0] for name in names}
    folders = ["", f"{next(iter(tops))}/"] if len(tops) == 1 else [""]
    return next((folder + file for folder in folders for file in FILES if folder + file in names), "")


def read_manifest(source: Source, name: str) -> list[Entry]:
    """Return the rows of the manifest as entries; an invalid row has a `problem`."""
    data = source.read(name, limit=settings.TABLE_MAX_BYTES, subject=f"“{name}”")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DomainError("manifest_not_utf8", f"“{name}” is not UTF-8 text.") from None
    folder = name.rpartition("/")[0]
    rows = _json_rows(text) if name.lower().endswith(".jsonl") else _csv_rows(text, name)
    return [_entry(number, row, folder) for number, row in rows]


def _csv_rows(text: str, name: str) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [cell.strip().lower() for cell in next(reader, [])]
        if len(header) > MAX_COLUMNS:
            raise too_many_columns(name, len(header))
        if "path" not in header:
            raise DomainError(
                "manifest_without_path",
                f"“{name}” needs a column “path” (and may have {', '.join(COLUMNS[1:])}).",
                fields={"path": "missing column"},
            )
        for row in reader:
            if len(row) > len(header):
                yield reader.line_num, f"the row has {len(row)} cells, but the header has {len(header)}"
            elif any(cell.strip() for cell in row):
                yield reader.line_num, dict(zip(header, row, strict=False))
    except csv.Error as error:
        raise DomainError(
            "manifest_damaged", f"Row {reader.line_num} of “{name}” is not CSV: {error}."
        ) from None


def _json_rows(text: str) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            yield number, "the line is not JSON"
            continue
        yield number, row if isinstance(row, dict) else "the line is not a JSON object"


def _entry(number: int, row: Mapping[str, Any] | str, folder: str) -> Entry:
    if isinstance(row, str):
        return Entry(name="", where=f"row {number}", problem=row)
    cells = {column: str(row.get(column) or "").strip() for column in COLUMNS}
    path = cells["path"].removeprefix("./")
    where = f"row {number} ({path})" if path else f"row {number}"
    problem = ""
    if not path:
        problem = "the row has no path"
    elif is_outside(path):
        problem = "the path is outside the folder or archive that is imported"
    return Entry(
        name=f"{folder}/{path}" if folder else path,
        where=where,
        group=cells["group"],
        model_label=cells["model"],
        condition=cells["condition"],
        prompt=cells["prompt"],
        attribute=cells["attribute"],
        problem=problem,
    )
