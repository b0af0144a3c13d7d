"""What is noticed about campaigns while people work, and what stop rules did."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotation.models.campaigns import Campaign

# The least that an hour may pay, in the smallest unit of the currency. Source: Prolific's rules of 2026.
FLOOR = {"GBP": 600, "USD": 800}


class Notice(models.Model):
    """What a lead should know of a campaign; it is open until it is no longer so."""

    class Kind(models.TextChoices):
        FINISHED = "finished", "all answers are in"
        STUCK = "stuck", "no answers come in"
        SHORTFALL = "shortfall", "people are missing for the quotas"
        JUNK = "junk", "many people are flagged"
        LOW_PAY = "low_pay", "people earn less than the least amount an hour"
        STOPPED = "stopped", "a stop rule paused or closed the campaign"

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=10, choices=Kind)
    details = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["campaign", "kind"], condition=Q(resolved_at=None), name="notice_one_open_of_a_kind"
            ),
        ]
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"{self.campaign}: {self.kind}"


class CampaignStop(models.Model):
    """That a stop rule paused or closed a campaign. The same rule with the same setting does so once."""

    class Rule(models.TextChoices):
        BUDGET = "budget", "budget spent"
        DATE = "date", "date reached"
        PRECISION = "precision", "precision reached"
        COMPLETE = "complete", "all screens complete"

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="stops")
    rule = models.CharField(max_length=10, choices=Rule)
    setting = models.CharField(max_length=60)  # what the rule was set to: a new setting may stop again
    reason = models.CharField(max_length=300)
    state = models.CharField(max_length=10)  # of the campaign since then
    stopped_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["campaign", "rule", "setting"], name="campaign_stop_once_for_a_setting"
            ),
            models.CheckConstraint(
                condition=Q(rule__in=["budget", "date", "precision", "complete"]),
                name="campaign_stop_rule_known",
            ),
            models.CheckConstraint(
                condition=Q(state__in=[Campaign.State.PAUSED, Campaign.State.CLOSED]),
                name="campaign_stop_pauses_or_closes",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="campaign_stop_has_reason"),
        ]
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"{self.campaign}: {self.rule}"


class PrecisionLook(models.Model):
    """One look at the precision of a running campaign: after how many answers, and the half-width then.

    The estimate itself is not kept, so that nobody sees results while people work.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="precision_looks")
    number = models.PositiveIntegerField()
    answers = models.PositiveIntegerField()
    half_width = models.FloatField(null=True, blank=True)
    reason = models.CharField(max_length=60, blank=True)  # why there is none
    looked_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["campaign", "number"], name="precision_look_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="precision_look_number_from_one"),
            models.CheckConstraint(
                condition=Q(half_width__isnull=False, half_width__gte=0, reason="")
                | Q(half_width__isnull=True) & ~Q(reason=""),
                name="precision_look_half_width_or_reason",
            ),
        ]
        ordering: ClassVar = ["campaign", "number"]

    def __str__(self) -> str:
        return f"look {self.number} at {self.campaign}"
