"""Thresholds a lead sets on how annotators work: whoever misses one is warned or paused."""

import math

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from annotation.models import Campaign, QualityAction, QualityEvent, QualityMeasure, QualityRule
from annotation.quality import enforcement, sentences
from foundation.errors import Conflict, DomainError
from studies import audit

MOST_SECONDS = 3600
MOST_SCREENS = 10_000


def set_rule(
    *, campaign: Campaign, measure: str, action: str, threshold: float, minimum: int, by: User | None
) -> QualityRule:
    """Set what happens by a measure, in place of what was set before; then look at everybody by it.

    `threshold` is a share from 0 to 1, or seconds; `minimum` the number of screens the measure has to rest on.
    """
    with transaction.atomic():
        campaign = _changeable(campaign)
        _check(measure, action, threshold, minimum)
        rule, _ = QualityRule.objects.update_or_create(
            campaign=campaign,
            measure=measure,
            action=action,
            defaults={"threshold": float(threshold), "minimum": minimum, "standard": False},
        )
        audit.record(
            by=by,
            action="quality_rule.set",
            subject=campaign,
            study=campaign.study,
            measure=str(QualityMeasure(measure).label),
            does=action,
            asked=sentences.asked(measure, threshold),
            minimum=minimum,
        )
    enforcement.check(campaign=campaign)
    return rule


@transaction.atomic
def remove_rule(*, rule: QualityRule, by: User | None) -> None:
    """Remove a rule. Its flags end; whoever it paused stays paused until a lead lets them go on."""
    campaign = _changeable(rule.campaign)
    deleted, _ = QualityRule.objects.filter(pk=rule.pk).delete()
    if not deleted:
        raise Conflict("rule_gone", "This rule was removed before.")
    QualityEvent.objects.filter(
        enrolment__campaign=campaign, measure=rule.measure, action=rule.action, ended_at=None
    ).update(ended_at=timezone.now(), ending=QualityEvent.Ending.RULE_GONE)
    audit.record(
        by=by,
        action="quality_rule.removed",
        subject=campaign,
        study=campaign.study,
        measure=rule.get_measure_display(),
        does=rule.action,
    )


def _changeable(campaign: Campaign) -> Campaign:
    locked = Campaign.objects.select_for_update(of=("self",), no_key=True)  # submissions go on meanwhile
    found = locked.select_related("study").get(pk=campaign.pk)
    if found.imported:
        raise Conflict(
            "campaign_imported", f"“{found.name}” was imported from a file: there is nobody to warn or pause."
        )
    if found.state == Campaign.State.CLOSED:
        raise Conflict("campaign_closed", f"“{found.name}” is closed; reopen it to change its rules.")
    return found


def _check(measure: str, action: str, threshold: float, minimum: int) -> None:
    wrong = {}
    if measure not in QualityMeasure.values:
        wrong["measure"] = f"Choose one of {', '.join(QualityMeasure.values)}."
    if action not in QualityAction.values:
        wrong["action"] = "Choose warn or pause."
    most = MOST_SECONDS if measure == QualityMeasure.MEDIAN_SECONDS else 1
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not math.isfinite(threshold):
        wrong["threshold"] = "Give a number."
    elif not 0 <= threshold <= most:
        unit = "seconds" if most > 1 else "a share"
        wrong["threshold"] = f"Give {unit} from 0 to {most:,}."
    if type(minimum) is not int or not 1 <= minimum <= MOST_SCREENS:
        wrong["minimum"] = f"Give a whole number from 1 to {MOST_SCREENS:,}."
    if wrong:
        raise DomainError("quality_rule_invalid", " ".join(wrong.values()), fields=wrong)
