"""Quality rules that a lead sets: annotators who miss a threshold are warned or paused."""

from typing import Any, ClassVar

from django.db import transaction
from django.utils import timezone
from pydantic import field_validator
from pydantic_core.core_schema import ValidationInfo

from accounts.models import User
from annotation.kinds.registry import kind_of
from annotation.models import Campaign, QualityAction, QualityEvent, QualityMeasure, QualityRule
from annotation.quality import enforcement, sentences
from annotation.quality.measured_answers import measures_of
from foundation.errors import Conflict, DomainError
from foundation.parameters import ParameterSet, Problem, parameter
from studies import audit


class RuleParameters(ParameterSet):
    """Quality rules: their thresholds, and the consequences of missing them."""

    error_code: ClassVar[str] = "quality_rule_invalid"

    measure: str = parameter(words=dict(QualityMeasure.choices), label="Measure", help="What is measured.")
    threshold: float = parameter(
        ge=0,
        le=3_600,
        expected="a share from 0 to 1, or seconds from 0 to 3,600",
        label="Threshold",
        help="The lowest value allowed. For the share of the most frequent answer, the highest value allowed.",
    )
    minimum: int = parameter(
        10,
        ge=1,
        le=10_000,
        label="Screens before the rule applies",
        help="The rule applies once the measure is based on this many screens.",
    )
    action: str = parameter(
        words=dict(QualityAction.choices), label="Then", help="Whether annotators are warned or paused."
    )

    @field_validator("threshold")
    @classmethod
    def _require_share(cls, threshold: float, info: ValidationInfo) -> float:
        if threshold > 1 and info.data.get("measure") != QualityMeasure.MEDIAN_SECONDS:
            raise ValueError("not a share")
        return threshold

    @classmethod
    def sentence(cls, problem: Problem) -> str:
        return f"Give {problem.declaration.expected}." if problem.declaration else super().sentence(problem)


def set_rule(*, campaign: Campaign, by: User | None, **values: Any) -> QualityRule:
    """Set or replace the rule for a measure and action, then check everybody against it: see `RuleParameters`."""
    with transaction.atomic():
        campaign = _changeable(campaign)
        asked = RuleParameters.read(values)
        _check_measure(campaign, asked.measure)
        rule, _ = QualityRule.objects.update_or_create(
            campaign=campaign,
            measure=asked.measure,
            action=asked.action,
            defaults={"threshold": asked.threshold, "minimum": asked.minimum, "standard": False},
        )
        audit.record(
            by=by,
            action="quality_rule.set",
            subject=campaign,
            study=campaign.study,
            measure=rule.get_measure_display(),
            does=rule.action,
            asked=sentences.threshold_text(rule.measure, rule.threshold),
            minimum=rule.minimum,
        )
    enforcement.check(campaign=campaign)
    return rule


@transaction.atomic
def remove_rule(*, rule: QualityRule, by: User | None) -> None:
    """Remove a rule. Its flags end; annotators it paused stay paused until a lead resumes them."""
    campaign = _changeable(rule.campaign)
    deleted, _ = QualityRule.objects.filter(pk=rule.pk).delete()
    if not deleted:
        raise Conflict("rule_gone", "This rule has already been removed.")
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


def _check_measure(campaign: Campaign, measure: str) -> None:
    kind = kind_of(campaign)
    if measure not in measures_of(kind):
        label = QualityMeasure(measure).label
        message = f"Campaigns of the kind “{kind.name}” do not have the measure “{label}”."
        raise DomainError("quality_rule_invalid", message, fields={"measure": message})


def _changeable(campaign: Campaign) -> Campaign:
    campaign = Campaign.locked(campaign.pk)
    if campaign.imported:
        raise Conflict(
            "campaign_imported",
            f"“{campaign.name}” was imported from a file, so there is nobody to warn or pause.",
        )
    if campaign.state == Campaign.State.CLOSED:
        raise Conflict(
            "campaign_closed", f"“{campaign.name}” is closed. Reopen the campaign to change its rules."
        )
    return campaign
