"""Uploaded resources: checked briefly, stored, and imported by a worker."""

from typing import Any, BinaryIO, cast

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from accounts.models import User
from catalog.geography import NEEDED_COLUMNS as NEEDED_OF_GEOGRAPHY
from catalog.imports.resources import NEEDED_COLUMNS
from foundation.errors import DomainError
from foundation.tables.reader import check_header
from jobs.models import Job
from jobs.run.execution import enqueue
from jobs.uploads import PREFIX, kept_until_queued

KIND = "import_resource"
GEOGRAPHY = f"{PREFIX}_geography"


def start_import(
    *,
    name: str,
    file: "UploadedFile[Any]",
    geography: "UploadedFile[Any] | None",
    update: bool,
    by: User | None,
    invented: bool = False,
) -> Job:
    """Store the files and queue the import; refuse a file at once if its beginning is invalid."""
    for field, table, needs in (
        ("file", file, NEEDED_COLUMNS),
        ("geography", geography, NEEDED_OF_GEOGRAPHY),
    ):
        if table is not None:
            try:
                check_header(cast("BinaryIO", table), name=table.name or field, needs=needs)
            except DomainError as error:
                raise DomainError(error.code, error.message, fields={field: error.message}) from None
    files = {PREFIX: file} if geography is None else {PREFIX: file, GEOGRAPHY: geography}
    with kept_until_queued(dict(files)) as names, transaction.atomic():
        arguments = {
            **names,
            "name": name,
            "update": update,
            "invented": invented,
            "file_name": file.name,
            "geography_name": geography.name if geography else "",
        }
        return enqueue(kind=KIND, title=f"Import the resource {name}", arguments=arguments, by=by)
