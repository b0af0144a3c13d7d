"""Uploaded files, which are stored until a worker has read them and removed after their job has ended.

A job names an uploaded file in its arguments, under a key that begins with `upload`.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import PurePath
from typing import Any, BinaryIO, cast

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.utils import timezone

from foundation.errors import NotFound
from jobs.models import Job

PREFIX = "upload"
# How long a failed or cancelled job can be retried.
_KEPT = timedelta(days=7)


@contextmanager
def kept_until_queued(files: dict[str, "File[Any]"]) -> Iterator[dict[str, str]]:
    """Store files and yield their names by the same keys; remove them if the block fails."""
    names: dict[str, str] = {}
    try:
        for key, file in files.items():
            suffix = PurePath(file.name or "").suffix.lower()
            suffix = suffix if suffix[1:].isalnum() and suffix.isascii() and len(suffix) < 8 else ""
            names[key] = default_storage.save(f"uploads/{uuid.uuid4().hex}{suffix}", file)
        yield names
    except BaseException:
        for name in names.values():
            default_storage.delete(name)
        raise


@contextmanager
def opened_upload(job: Job, key: str = PREFIX) -> Iterator[BinaryIO]:
    """Open a file that a job names. Raises NotFound if it was removed."""
    name = job.arguments.get(key, "")
    if not name or not default_storage.exists(name):
        raise NotFound("upload_missing", "The uploaded file was deleted. Upload the file again.")
    with default_storage.open(name) as file:
        yield cast("BinaryIO", file)


def remove_looked_into(*, look: str, importing: str, key: str) -> None:
    """Remove files that a job of kind `look` has inspected, once a job of kind `importing` has imported them.

    Files that nobody imports are removed after 7 days. `key` is the argument that names the file.
    """
    under_way = (Job.State.QUEUED, Job.State.RUNNING)
    old = timezone.now() - _KEPT
    for looking in Job.objects.filter(kind=look, arguments__has_key=key):
        imports = Job.objects.filter(kind=importing, **{f"arguments__{key}": looking.arguments[key]})
        if imports.filter(state__in=under_way).exists() or looking.state in under_way:
            continue
        imported = imports.filter(state=Job.State.SUCCEEDED).exists()
        if not imported and (looking.finished_at is None or looking.finished_at > old):
            continue
        default_storage.delete(looking.arguments[key])
        for job in [looking, *imports]:
            arguments = {name: value for name, value in job.arguments.items() if name != key}
            Job.objects.filter(pk=job.pk).update(arguments=arguments)


def remove_used() -> None:
    """Remove the files of jobs that succeeded and, after 7 days, of jobs that failed or were cancelled.

    A job does not remove its own file: killed between removal and success, it would run again without the file.
    """
    waiting = Job.objects.filter(arguments__has_key=PREFIX)
    given_up = [Job.State.FAILED, Job.State.CANCELLED]
    old = waiting.filter(state__in=given_up, finished_at__lt=timezone.now() - _KEPT)
    for job in [*waiting.filter(state=Job.State.SUCCEEDED), *old]:
        arguments = {name: value for name, value in job.arguments.items() if not name.startswith(PREFIX)}
        for name in job.arguments.keys() - arguments.keys():
            default_storage.delete(job.arguments[name])
        Job.objects.filter(pk=job.pk).update(arguments=arguments)
