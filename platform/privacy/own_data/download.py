"""The file that an annotator downloads: a zip with a CSV file for each table, one JSON file, and a README.

Rows are read and written one by one, so that memory contains only compressed data. Database keys are replaced by
the number of the row in its file.
"""

import csv
import io
import json
import tempfile
import zipfile
from collections.abc import Iterator
from typing import IO, Any

from django.apps import apps
from django.utils import timezone
from django.utils.translation import gettext

from accounts.models import Annotator
from foundation.tables.formulas import guarded
from privacy.inventory import PersonalTable
from privacy.own_data.records import OwnRecords
from privacy.own_data.words import NOT_SHOWN, subjects

_IN_MEMORY = 4 * 1024 * 1024  # bytes; longer data are written to disk
_CHUNK = 500
Row = dict[str, Any]


def write_zip(annotator: Annotator) -> io.BytesIO:
    """Return a zip of all data about a person as an open file at position 0."""
    records = OwnRecords(annotator)
    numbers: dict[str, dict[Any, int]] = {}
    packed = io.BytesIO()  # 5,000 answers are less than 1 MB compressed
    with (
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive,
        tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY, mode="w+", encoding="utf-8") as everything,
    ):
        everything.write(json.dumps({"made_at": timezone.now().isoformat()})[:-1])
        for table in records.tables():
            _write_table(archive, everything, table, _numbered(records, table, numbers))
        everything.write("}\n")
        everything.seek(0)
        with archive.open("your-data.json", "w") as target:
            while piece := everything.read(1024 * 1024):
                target.write(piece.encode())
        archive.writestr("README.txt", readme())
    packed.seek(0)
    return packed


def readme() -> str:
    """Return a description of the files and of omitted data, in the page's language."""
    lines = [gettext("Your data"), ""]
    for subject in subjects():
        lines += [str(subject.title), str(subject.intro)]
        lines += [f"- {words.file}.csv: {words.title}" for words in subject.tables]
        lines.append("")
    lines += [gettext("Stored, but not listed here"), *(f"- {reason}" for reason in NOT_SHOWN), ""]
    return "\n".join(lines)


def file_name(table: PersonalTable) -> str:
    """Return the name of a table's file, from `words` or else from the model."""
    named = {words.model: words.file for subject in subjects() for words in subject.tables}
    return named.get(table.model) or table.model.rpartition(".")[2].lower()


def _numbered(records: OwnRecords, table: PersonalTable, numbers: dict[str, dict[Any, int]]) -> Iterator[Row]:
    """Yield the rows of a table, with row numbers in place of foreign keys."""
    meta = apps.get_model(table.model)._meta
    fields = records.fields(table)
    stored = {name for name in fields if name in table.about.split()}
    referred = {name: meta.get_field(name).related_model for name in stored}
    own_numbers = numbers.setdefault(table.model, {})
    for number, row in enumerate(records.rows(table.model).iterator(chunk_size=_CHUNK), start=1):
        own_numbers[row.pk] = number
        written: Row = {"number": number}
        for name in fields:
            value = records.value(table.model, row, name)
            related = referred.get(name)
            written[name] = numbers.get(related._meta.label, {}).get(value) if related else value
        yield written


def _write_table(
    archive: zipfile.ZipFile, everything: IO[str], table: PersonalTable, rows: Iterator[Row]
) -> None:
    """Write the rows to a CSV file and to the JSON file; write nothing if there are none."""
    first = next(rows, None)
    if first is None:
        return
    name = file_name(table)
    everything.write(f", {json.dumps(name)}: [")
    with (
        archive.open(f"{name}.csv", "w") as target,
        io.TextIOWrapper(target, encoding="utf-8-sig", newline="") as text,
    ):
        writer = csv.writer(text)
        writer.writerow(first)
        separator = "\n"
        for row in _chained(first, rows):
            plain = {key: _plain(value) for key, value in row.items()}
            writer.writerow([_cell(value) for value in plain.values()])
            everything.write(separator + json.dumps(plain, ensure_ascii=False))
            separator = ",\n"
    everything.write("]")


def _chained(first: Row, rest: Iterator[Row]) -> Iterator[Row]:
    yield first
    yield from rest


def _plain(value: Any) -> Any:
    """Return a value as a JSON type."""
    if value is None or isinstance(value, str | bool | int | float | list | dict):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _cell(value: Any) -> Any:
    """Return a JSON value as a cell that spreadsheets do not treat as a formula."""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return guarded(value) if isinstance(value, str) else value
