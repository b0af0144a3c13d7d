"""Annotators' reports about images, for leads to review."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models import Annotator
from annotation.models.campaigns import Campaign
from generation.models import Image


class ImageReport(models.Model):
    """A report that an image should not be shown; a lead retracts the image or dismisses the report."""

    class Reason(models.TextChoices):
        REAL_PERSON = "real_person", _("It shows a real person")
        ILLEGAL = "illegal", _("It may be against the law")
        BROKEN = "broken", _("It is broken or empty")
        OTHER = "other", _("Something else")

    class State(models.TextChoices):
        OPEN = "open", "open"
        RETRACTED = "retracted", "image retracted"
        DISMISSED = "dismissed", "dismissed"

    image = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="reports")
    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="image_reports")
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="image_reports")
    reason = models.CharField(max_length=12, choices=Reason)
    details = models.CharField(max_length=1000, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["annotator", "image"], condition=Q(state="open"), name="image_report_one_open"
            ),
            models.CheckConstraint(
                condition=Q(state="open", closed_at__isnull=True)
                | ~Q(state="open") & Q(closed_at__isnull=False),
                name="image_report_closed_unless_open",
            ),
            models.CheckConstraint(
                condition=Q(reason__in=["real_person", "illegal", "broken", "other"]),
                name="image_report_reason_known",
            ),
        ]
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"{self.annotator} on {self.image}: {self.reason}"
