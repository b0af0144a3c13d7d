"""Importing a JSON export of Label Studio like any table of judgements."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from accounts.models import User
from annotation.imports.column_map import with_words
from annotation.imports.importer import ImportReport, ImportTarget, import_table
from annotation.label_studio.format.names import OURS, Names
from annotation.label_studio.format.reader import read_export
from catalog.attributes import NONE_OF_THE_ABOVE, normalise
from catalog.models import Resource
from foundation.errors import DomainError
from jobs.progress.reporter import Progress, Unwatched

# What other names may mend.
_OF_THE_NAMES = ("map_bad", "no_row_readable", "table_empty")


def import_export(
    *,
    study: str,
    file: Path | BinaryIO,
    by: User | None,
    names: Names = OURS,
    words: Mapping[str, str] | None = None,
    none_value: str = NONE_OF_THE_ABOVE,
    resource: Resource | None = None,
    file_name: str | None = None,
    name: str = "",
    ground_truth: bool = True,
    progress: Progress | None = None,
    **options: Any,
) -> ImportReport:
    """Import the annotations of an export into the study of that name, created when there is none.

    An attribute is in the image where it was ticked or has a box, and judged absent where the task asked it and
    neither is so. What cannot be read is left out and reported, row by row; skipped annotations, drafts and
    predictions are counted. What is marked as `ground_truth` is taken as any other, or left out.
    `options` are further options of `ColumnMap`.
    """
    progress = progress or Unwatched()
    progress.start(3)
    export = read_export(
        file, names=names, none_text=normalise(none_value), file_name=file_name, ground_truth=ground_truth
    )
    progress.advance(1, message="checking rows")
    column_map = export.column_map(none_value=none_value, **options)
    column_map = with_words(column_map, words) if words else column_map
    try:
        return import_table(
            table=export.table,
            column_map=column_map,
            target=ImportTarget(name=study, by=by, resource=resource, campaign=name),
            progress=progress,
            notes=export.notes,
        )
    except DomainError as error:
        if error.code not in _OF_THE_NAMES:
            raise
        message = f"{error.message}\n{export.inventory.lists()}"
        raise DomainError(error.code, message, fields=error.fields) from error
