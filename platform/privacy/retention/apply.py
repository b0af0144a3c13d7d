"""Applying the retention rules, daily by a worker or by a command."""

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
    """Apply the rules that have a number of days; return the number of removed rows by rule.

    Workers pass `day`, so that only one of them applies the rules on a day. A dry run is rolled back.
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
        if not of_today.exists():  # otherwise, another worker has applied the rules
            raise
