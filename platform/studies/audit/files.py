"""Downloads of a study's files, each recorded in the audit trail."""

from typing import IO

from django.contrib.auth.models import AnonymousUser
from django.http import FileResponse, HttpResponse

from accounts.models import User
from studies import audit
from studies.models import Study

CSV = "text/csv; charset=utf-8"
JSON = "application/json; charset=utf-8"
ZIP = "application/zip"


def recorded_file(
    content: str | bytes, *, by: User | AnonymousUser, study: Study, name: str, content_type: str
) -> HttpResponse:
    """Return `content` as a file of the study to save, and record that `by` downloaded `name`."""
    audit.record_download(by=by, study=study, file=name)
    response = HttpResponse(content, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-{name}"'
    return response


def recorded_stream(
    content: IO[bytes], *, by: User | AnonymousUser, study: Study, name: str, content_type: str, saved_as: str
) -> FileResponse:
    """Return an open file to stream and save, and record that `by` downloaded `name`."""
    audit.record_download(by=by, study=study, file=name)
    return FileResponse(content, as_attachment=True, filename=saved_as, content_type=content_type)
