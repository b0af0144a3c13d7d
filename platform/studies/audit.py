"""The audit trail."""

from django.db import models

from accounts.models import User
from studies.models import AuditEntry, Study


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
