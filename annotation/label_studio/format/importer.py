"""Importing a JSON export of Label Studio in the same way as a table of judgements."""

from pathlib import Path
from typing import BinaryIO

from annotation.imports.importer import ImportReport, ImportTarget, import_table
from annotation.label_studio.format.options import ExportOptions
from annotation.label_studio.format.reader import read_export
from foundation.errors import DomainError
from jobs.progress.reporter import Progress, Unwatched

# Problems that other names may solve.
_OF_THE_NAMES = ("map_bad", "no_row_readable", "table_empty")


def import_export(
    *,
    target: ImportTarget,
    file: Path | BinaryIO,
    options: ExportOptions | None = None,
    file_name: str | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Import the annotations of an export into the target's study, which is created if it does not exist.

    An attribute is in the image if it was ticked or has a box; otherwise it counts as absent if the task asked about
    it. Unreadable rows are left out and reported one by one; skipped annotations, drafts and predictions are counted.
    """
    options = options or ExportOptions()
    progress = progress or Unwatched()
    progress.start(3)
    export = read_export(file, options, file_name=file_name)
    progress.advance(1, message="checking rows")
    try:
        return import_table(
            table=export.table,
            column_map=options.column_map(export.columns),
            target=target,
            progress=progress,
            notes=export.notes,
        )
    except DomainError as error:
        if error.code not in _OF_THE_NAMES:
            raise
        message = f"{error.message}\n{export.inventory.lists()}"
        raise DomainError(error.code, message, fields=error.fields) from error
