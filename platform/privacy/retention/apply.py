"""Applying the retention rules: once a day by a worker, or now by a command."""

from collections.abc import Mapping
from datetime import date, timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from privacy.erasure import tombstones
from privacy.models import RetentionRun
from privacy.retention.rules import RULES
from studies import audit

APPLIED = "retention.applied"


@transaction.atomic
def apply_retention(*, by: User | None, day: date | None = None, dry_run: bool = False) -> Mapping[str, int]:
    """Remove what the rules that are set say; return by rule how many rows.

    `day` is set by workers, of whom one applies the rules each day. A dry run does the same and takes it back.
    """
    now = timezone.now()
    removed = {
        rule.key: rule.remove(now - timedelta(days=rule.days)) for rule in RULES if rule.days is not None
    }
    if dry_run:
        transaction.set_rollback(True)
        return removed
    run = RetentionRun.objects.create(day=day, removed=removed)
    if any(removed.values()):
        audit.record(by=by, action=APPLIED, subject=run, study=None, **removed)
        transaction.on_commit(tombstones.overwrite_journal)
    return removed


def apply_daily() -> None:
    """Apply the rules unless none is set or a worker did so today."""
    today = timezone.localdate()
    of_today = RetentionRun.objects.filter(day=today)
    if all(rule.days is None for rule in RULES) or of_today.exists():
        return
    try:
        apply_retention(by=None, day=today)
    except IntegrityError:
        if not of_today.exists():  # else another worker was faster
            raise
