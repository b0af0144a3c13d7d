"""Uploaded archives of images: checked briefly, stored, and imported by a worker."""

from typing import IO, Any, cast

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from accounts.models import User
from foundation.errors import DomainError
from generation.imports.options import ImageImportOptions
from generation.imports.sources import ZipSource
from jobs.models import Job
from jobs.run.execution import enqueue
from jobs.uploads import PREFIX, kept_until_queued
from studies.models import Study

KIND = "import_images"


def start_import(*, study: Study, archive: "UploadedFile[Any]", by: User | None, **options: Any) -> Job:
    """Store the archive and queue its import with `ImageImportOptions`; refuse a file that is not an archive."""
    if (archive.size or 0) > settings.ARCHIVE_MAX_BYTES:
        limit = settings.ARCHIVE_MAX_BYTES / 1024 / 1024
        message = f"The archive is larger than the limit of {limit:,.0f} MiB."
        raise DomainError("archive_too_large", message, fields={"archive": message})
    chosen = ImageImportOptions.read(options)
    try:
        ZipSource(cast("IO[bytes]", archive))
    except DomainError as error:
        raise DomainError(error.code, error.message, fields={"archive": error.message}) from None
    archive.seek(0)
    with kept_until_queued({PREFIX: archive}) as names, transaction.atomic():
        return enqueue(
            kind=KIND,
            title=f"Import images into {study.name}",
            arguments={"study": study.pk, **names, **chosen.model_dump()},
            by=by,
            study_id=study.pk,
        )
