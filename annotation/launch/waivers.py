"""Waiving checks, so that a campaign can open without passing them."""

from collections.abc import Collection

from django.db import transaction

from accounts.models import User
from annotation.launch.checks import KEYS
from annotation.models import Campaign, LaunchWaiver
from foundation.errors import Conflict, DomainError
from studies import audit

LONGEST_REASON = 500


@transaction.atomic
def waive(*, campaign: Campaign, checks: Collection[str], reason: str, by: User | None) -> list[LaunchWaiver]:
    """Let a draft open although these checks are missing; the reason is kept and in the study's history."""
    campaign = Campaign.locked(campaign.pk)
    if campaign.state != Campaign.State.DRAFT:
        raise Conflict(
            "wrong_state", f"“{campaign.name}” is {campaign.state}; only a draft has checks to waive."
        )
    if unknown := sorted(set(checks) - set(KEYS)):
        raise DomainError(
            "check_unknown",
            f"There is no check called {', '.join(unknown)}. The checks are {', '.join(KEYS)}.",
        )
    if not checks:
        raise DomainError(
            "no_check", "Choose at least one check to waive.", fields={"checks": "nothing chosen"}
        )
    reason = reason.strip()
    if not reason or len(reason) > LONGEST_REASON:
        raise DomainError(
            "invalid_reason",
            f"Give a reason of 1 to {LONGEST_REASON} characters.",
            fields={"reason": "missing" if not reason else "too long"},
        )
    waivers = [
        LaunchWaiver.objects.update_or_create(
            campaign=campaign, check_key=key, defaults={"reason": reason, "created_by": by}
        )[0]
        for key in sorted(set(checks))
    ]
    audit.record(
        by=by,
        action="campaign.checks_waived",
        subject=campaign,
        study=campaign.study,
        checks=", ".join(sorted(set(checks))),
        reason=reason,
    )
    return waivers
