"""The audit trail."""

from django.contrib.auth.models import AnonymousUser
from django.db import models

from accounts.models import User
from studies.models import AuditEntry, Study

# How the trail says that a person was erased. It says of which study, never who.
ANNOTATOR_ERASED = "annotator.erased"


def record(
    *, by: User | None, action: str, subject: models.Model, study: Study | None, **details: object
) -> None:
    """Write who did what. Call it inside the transaction that does it."""
    AuditEntry.objects.create(
        study=study,
        actor=by,
        action=action,
        subject=f"{subject._meta.model_name}:{subject.pk}",
        details=details,
    )


def record_download(*, by: User | AnonymousUser, study: Study, file: str) -> None:
    """Write who took a file of a study away. Call it before the file is sent: without an entry there is none."""
    assert isinstance(by, User)  # nobody else gets at a study
    record(by=by, action="file.downloaded", subject=study, study=study, file=file)


def record_reading(*, by: User, study: Study, of: str) -> None:
    """Write who read what people say of themselves."""
    record(by=by, action="people.read", subject=study, study=study, of=of)
