"""Uploaded files of answers: one job reads the first rows, another imports the file with the chosen columns.

Files are untrusted. Their size is limited here; a worker reads the content, with limits of its own.
"""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import QuerySet

from accounts.models import User
from foundation.errors import DomainError
from generation.imports.answers.fields import AnswerImportOptions
from generation.probing.planning import probe_sets_of
from generation.probing.probe_sets import ProbeSet
from jobs.models import Job
from jobs.run.execution import enqueue
from jobs.uploads import kept_until_queued, opened_upload, remove_looked_into
from studies.models import Study

LOOK = "look_into_answers"
IMPORT = "import_answers"
# The job argument that names the file. It is read by two jobs, so it is not removed when the first one ends.
FILE = "answer_file"
SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".eval")
_MOST_BYTES = 64 * 1024 * 1024
_LONGEST_NAME = 120


def upload_limit() -> int:
    """Return the size limit of an uploaded file of answers, in bytes."""
    return min(_MOST_BYTES, settings.TABLE_MAX_BYTES)


def start_look(*, study: Study, file: "UploadedFile[Any]", by: User | None) -> Job:
    """Store a file of answers and queue a job that reads its first rows; refuse a wrong size or suffix at once."""
    printable = "".join(character for character in (file.name or "") if character.isprintable())
    name = PurePath(printable).name[-_LONGEST_NAME:] or "answers.csv"
    if (file.size or 0) > upload_limit():
        _refuse(
            "table_too_large",
            f"“{name}” is larger than the {upload_limit():,} bytes allowed here; import the file with the "
            f"command import_answers.",
        )
    if PurePath(name).suffix.lower() not in SUFFIXES:
        _refuse("table_unreadable", f"“{name}” is not one of these types of file: {', '.join(SUFFIXES)}.")
    with kept_until_queued({FILE: file}) as names, transaction.atomic():
        return enqueue(
            kind=LOOK,
            title=f"Read “{name}” for {study.name}",
            arguments={"study": study.pk, "file_name": name, **names},
            by=by,
            study_id=study.pk,
        )


def start_import(
    *, look: Job, columns: Mapping[str, str], probe_set: str, options: AnswerImportOptions, by: User | None
) -> Job:
    """Queue the import of the file that job `look` read.

    `columns` is field → column; `probe_set` is "" if the file names its probe sets.
    """
    with opened_upload(look, FILE):
        pass  # the file still exists
    kept = {name: look.arguments[name] for name in ("study", FILE, "file_name")}
    return enqueue(
        kind=IMPORT,
        title=f"Import answers from “{look.arguments['file_name']}”",
        arguments={**kept, "columns": dict(columns), "probe_set": probe_set, **options.model_dump()},
        by=by,
        study_id=look.study_id,
    )


def looks_of(study: Study) -> QuerySet[Job]:
    """Return the jobs that read still existing files of a study, newest first."""
    return Job.objects.filter(study_id=study.pk, kind=LOOK, arguments__has_key=FILE).order_by("-pk")


def chosen_sets(study: Study, name: str) -> dict[str, ProbeSet]:
    """Return the probe set with this name, or all sets of the study if the name is empty."""
    sets = probe_sets_of(study)
    if not name:
        return sets
    if name not in sets:
        _refuse("probe_set_missing", f"The probe set “{name}” no longer exists.")
    return {name: sets[name]}


def remove_used() -> None:
    """Remove imported files, and other uploaded files after a while."""
    remove_looked_into(look=LOOK, importing=IMPORT, key=FILE)


def _refuse(code: str, message: str) -> None:
    raise DomainError(code, message, fields={"file": message})
