"""Notices about running campaigns, and actions of stop rules."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotation.models.campaigns import Campaign

# The lowest pay per hour, in the smallest unit of the currency. Source: Prolific's rules of 2026.
FLOOR = {"GBP": 600, "USD": 800}


class Notice(models.Model):
    """A message to leads about a campaign; it is open until its cause disappears."""

    class Kind(models.TextChoices):
        FINISHED = "finished", "all answers are in"
        STUCK = "stuck", "no answers come in"
        SHORTFALL = "shortfall", "people are missing for the quotas"
        JUNK = "junk", "many people are flagged"
        LOW_PAY = "low_pay", "people earn less than the minimum an hour"
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
    """A pause or closing of a campaign by a stop rule; it happens once per rule and setting."""

    class Rule(models.TextChoices):
        BUDGET = "budget", "budget spent"
        DATE = "date", "date reached"
        PRECISION = "precision", "precision reached"
        COMPLETE = "complete", "all screens complete"

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="stops")
    rule = models.CharField(max_length=10, choices=Rule)
    setting = models.CharField(max_length=60)  # the rule's setting; a new setting may stop the campaign again
    reason = models.CharField(max_length=300)
    state = models.CharField(max_length=10)  # of the campaign after the stop
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
    """One look at the precision of a running campaign: the number of answers and the half-width.

    The estimate itself is not stored, so that nobody sees results while people work.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="precision_looks")
    number = models.PositiveIntegerField()
    answers = models.PositiveIntegerField()
    half_width = models.FloatField(null=True, blank=True)
    reason = models.CharField(max_length=60, blank=True)  # why there is no half-width
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
