"""A Label Studio export that a lead uploads: one job inspects it, another imports it once its names are mapped.

The file is not trusted. Its size is limited here; a worker reads its content, within limits of its own.
"""

from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import QuerySet

from accounts.models import User
from foundation.errors import DomainError
from jobs.models import Job
from jobs.run.execution import enqueue
from jobs.uploads import kept_until_queued, opened_upload, remove_looked_into
from studies.models import Study

LOOK = "label_studio.look_into_export"
IMPORT = "label_studio.import_export"
# The argument that names the file. `jobs.uploads` removes other files when their job is done; this one is read twice.
EXPORT = "export"
MOST_BYTES = 64 * 1024 * 1024


def upload_limit() -> int:
    """Return the maximum size of an uploaded export, in bytes."""
    return min(MOST_BYTES, settings.TABLE_MAX_BYTES)


def start_look(*, study: Study, file: "UploadedFile[Any]", by: User | None) -> Job:
    """Store an export and queue its inspection; a file that is obviously not an export is refused at once."""
    name = (
        "".join(character for character in (file.name or "") if character.isprintable())[-120:]
        or "export.json"
    )
    if (file.size or 0) > upload_limit():
        _refuse("table_too_large", f"“{name}” is larger than the {upload_limit():,} bytes allowed.")
    if not file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        _refuse(
            "label_studio_unreadable",
            f"“{name}” is not a list of tasks. Export it from Label Studio as JSON.",
        )
    file.seek(0)
    with kept_until_queued({EXPORT: file}) as uploads, transaction.atomic():
        return enqueue(
            kind=LOOK,
            title=f"Read a Label Studio export for {study.name}",
            arguments={"study": study.pk, "file_name": name, **uploads},
            by=by,
            study_id=study.pk,
        )


def start_import(*, look: Job, by: User | None, **options: Any) -> Job:
    """Queue the import of an inspected file; `options` contain the names, as plain data."""
    with opened_upload(look, EXPORT):
        pass  # the file still exists
    arguments = {name: look.arguments[name] for name in ("study", EXPORT, "file_name")}
    return enqueue(
        kind=IMPORT,
        title=f"Import “{look.arguments['file_name']}” from Label Studio",
        arguments=arguments | options,
        by=by,
        study_id=look.study_id,
    )


def looks_of(study: Study) -> QuerySet[Job]:
    """Return the inspected files of a study that still exist, newest first."""
    return Job.objects.filter(study_id=study.pk, kind=LOOK, arguments__has_key=EXPORT).order_by("-pk")


def remove_used() -> None:
    """Remove imported files, and after some time files that were not imported."""
    remove_looked_into(look=LOOK, importing=IMPORT, key=EXPORT)


def _refuse(code: str, message: str) -> None:
    raise DomainError(code, message, fields={"file": message})
