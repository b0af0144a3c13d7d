"""Break-glass: administrators who are not members read a study for a limited time, with a recorded reason."""

from datetime import timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from accounts.models import User
from foundation.errors import Conflict
from jobs.run.execution import enqueue
from studies import audit
from studies.models import BreakGlass, Study

LETTER = "break_glass_letter"
SHORTEST_REASON = 20  # characters


def open_study(*, study: Study, by: User, reason: str) -> BreakGlass:
    """Let an administrator read `study` for BREAK_GLASS_HOURS. Raises Conflict if they already can."""
    end_expired()
    try:
        with transaction.atomic():
            return _open(study, by, reason)
    except IntegrityError:
        raise Conflict("glass_broken", "You have already opened this study.") from None


def _open(study: Study, by: User, reason: str) -> BreakGlass:
    now = timezone.now()
    glass = BreakGlass.objects.create(
        study=study,
        user=by,
        reason=reason,
        began_at=now,
        ends_at=now + timedelta(hours=settings.BREAK_GLASS_HOURS),
    )
    audit.record(
        by=by,
        action="break_glass.opened",
        subject=glass,
        study=study,
        reason=reason,
        until=f"{timezone.localtime(glass.ends_at):%Y-%m-%d %H:%M}",
    )
    if settings.EMAIL_HOST:
        enqueue(
            kind=LETTER,
            title=f"Tell the leads of {study.name} that an administrator opened it",
            arguments={"break_glass": glass.pk},
            by=None,
            study_id=study.pk,
        )
    return glass


@transaction.atomic
def end(*, glass: BreakGlass, by: User) -> None:
    """End the access early; do nothing if it has already ended."""
    if BreakGlass.objects.filter(pk=glass.pk).in_force().update(ended_at=timezone.now()):
        audit.record(by=by, action="break_glass.ended", subject=glass, study=glass.study)


def end_expired() -> int:
    """Record the end of expired accesses; return their number. Concurrent calls record each only once."""
    ended = 0
    for glass in BreakGlass.objects.expired().select_related("study", "user"):
        with transaction.atomic():
            if BreakGlass.objects.filter(pk=glass.pk).expired().update(ended_at=F("ends_at")):
                audit.record(by=None, action="break_glass.expired", subject=glass, study=glass.study,
                             username=glass.user.username)  # fmt: skip
                ended += 1
    return ended
