"""Stored counts for the pages of large campaigns."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from annotation.models.campaigns import Campaign


class CampaignSnapshot(models.Model):
    """The numbers of one page of a campaign at one moment: see `annotation.campaigns.snapshots`."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="snapshots", db_index=False)
    subject = models.CharField(max_length=20)  # a name registered with annotation.campaigns.snapshots
    argument = models.CharField(max_length=40, blank=True)  # such as the days of a pay statement
    value = models.JSONField(null=True, blank=True)  # null until first counted
    format = models.PositiveSmallIntegerField(default=0)  # version of `value`; other versions are not read
    counted_at = models.DateTimeField(null=True, blank=True)  # when counting began; nothing older is missing
    seconds = models.FloatField(default=0)  # duration of counting
    # Until then one process counts, and others show the stored value; null or past: nobody is counting.
    claimed_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["campaign", "subject", "argument"], name="campaign_snapshot_once_of_a_subject"
            ),
            models.CheckConstraint(
                condition=Q(value__isnull=True, counted_at__isnull=True)
                | Q(value__isnull=False, counted_at__isnull=False),
                name="campaign_snapshot_has_its_moment",
            ),
            models.CheckConstraint(
                condition=Q(seconds__gte=0), name="campaign_snapshot_seconds_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.campaign}: {self.subject} {self.argument}".strip()
