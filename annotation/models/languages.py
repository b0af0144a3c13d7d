"""The languages of a campaign."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotation.models.campaigns import Campaign
from annotation.models.language_codes import LANGUAGE_CODES


class CampaignLanguage(models.Model):
    """A language of a campaign's translated texts: see `annotation.campaigns.instruments.languages`."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="languages")
    language = models.CharField(max_length=2)
    # Why a lead offers the language with missing texts, which annotators read in English.
    untranslated_reason = models.CharField(max_length=300, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["campaign", "language"], name="campaign_language_once"),
            models.CheckConstraint(
                condition=Q(language__in=LANGUAGE_CODES) & ~Q(language="en"), name="campaign_language_known"
            ),
        ]
        ordering: ClassVar = ["campaign", "language"]

    def __str__(self) -> str:
        return f"{self.campaign}: {self.language}"
