"""An uploaded archive waits in storage until a worker has imported it, and is removed once its job has ended."""

import uuid
from datetime import timedelta
from typing import IO, cast

from django.conf import settings
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone

from accounts.errors import DomainError
from accounts.models import User
from generation.imports.sources import ZipSource
from generation.planning import clean_label
from jobs.models import Job
from jobs.running import enqueue
from studies.models import Study

KIND = "import_images"
# So long a failed or cancelled import may be tried again.
_KEPT = timedelta(days=7)


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
    name = default_storage.save(f"uploads/{uuid.uuid4().hex}.zip", archive)
    try:
        with transaction.atomic():
            return enqueue(
                kind=KIND,
                title=f"Import images into {study.name}",
                arguments={
                    "study": study.pk,
                    "upload": name,
                    "layout": layout,
                    "model_label": model_label,
                    "condition": condition,
                    "create_groups": create_groups,
                },
                by=by,
                study_id=study.pk,
            )
    except BaseException:
        default_storage.delete(name)
        raise


def remove_used() -> None:
    """Remove the archives of imports that ended well, and in time of those that did not.

    Not the job itself: killed between the removal and its success, it would be done again and find no archive.
    """
    waiting = Job.objects.filter(kind=KIND, arguments__has_key="upload")
    given_up = [Job.State.FAILED, Job.State.CANCELLED]
    old = waiting.filter(state__in=given_up, finished_at__lt=timezone.now() - _KEPT)
    for job in [*waiting.filter(state=Job.State.SUCCEEDED), *old]:
        default_storage.delete(job.arguments["upload"])
        kept = {name: value for name, value in job.arguments.items() if name != "upload"}
        Job.objects.filter(pk=job.pk).update(arguments=kept)
