"""An uploaded archive of images is looked at briefly, kept, and imported by a worker."""

from typing import IO, cast

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from accounts.models import User
from foundation.errors import DomainError
from generation.imports.sources import ZipSource
from generation.runs.planning import clean_label
from jobs.models import Job
from jobs.run.execution import enqueue
from jobs.uploads import PREFIX, kept_until_queued
from studies.models import Study

KIND = "import_images"


def start_import(
    *,
    study: Study,
    archive: UploadedFile,
    layout: str,
    model_label: str,
    condition: str,
    create_groups: bool,
    by: User | None,
) -> Job:
    """Keep the archive and queue its import; what is plainly no usable archive is refused at once."""
    if (archive.size or 0) > settings.ARCHIVE_MAX_BYTES:
        limit = settings.ARCHIVE_MAX_BYTES / 1024 / 1024
        message = f"The archive is larger than the limit of {limit:,.0f} MiB."
        raise DomainError("archive_too_large", message, fields={"archive": message})
    if model_label:
        clean_label(model_label)
    try:
        ZipSource(cast("IO[bytes]", archive))
    except DomainError as error:
        raise DomainError(error.code, error.message, fields={"archive": error.message}) from None
    archive.seek(0)
    with kept_until_queued({PREFIX: archive}) as names, transaction.atomic():
        return enqueue(
            kind=KIND,
            title=f"Import images into {study.name}",
            arguments={
                "study": study.pk,
                **names,
                "layout": layout,
                "model_label": model_label,
                "condition": condition,
                "create_groups": create_groups,
            },
            by=by,
            study_id=study.pk,
        )
