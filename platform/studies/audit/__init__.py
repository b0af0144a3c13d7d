"""The audit trail."""

from django.contrib.auth.models import AnonymousUser
from django.db import models

from accounts.models import User
from studies.models import AuditEntry, Study

# The action of entries about an erasure, which name the study and never the person.
ANNOTATOR_ERASED = "annotator.erased"


def record(
    *, by: User | None, action: str, subject: models.Model, study: Study | None, **details: object
) -> None:
    """Add an entry to the audit trail. Call this in the transaction of the recorded change."""
    AuditEntry.objects.create(
        study=study,
        actor=by,
        action=action,
        subject=f"{subject._meta.model_name}:{subject.pk}",
        details=details,
    )


def record_download(*, by: User | AnonymousUser, study: Study, file: str) -> None:
    """Record the download of a file of a study. Call this before sending, so that no file lacks an entry."""
    assert isinstance(by, User)  # only signed-in users have access to studies
    record(by=by, action="file.downloaded", subject=study, study=study, file=file)


def record_reading(*, by: User, study: Study, of: str) -> None:
    """Record that `by` read what annotators say about themselves."""
    record(by=by, action="people.read", subject=study, study=study, of=of)
