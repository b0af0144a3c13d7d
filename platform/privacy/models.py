"""That people were erased and data about people removed, without saying whose."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class Erasure(models.Model):
    """One erased person, by the keyed hash of the random code they had. A restored backup finds them by it."""

    code_hash = models.CharField(max_length=64, unique=True)
    erased_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=~Q(code_hash=""), name="erasure_has_code_hash"),
        ]
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"erasure {self.pk}"


class RetentionRun(models.Model):
    """One time that the retention rules were applied, and how many rows each rule removed."""

    day = models.DateField(null=True, blank=True, unique=True)  # of workers; null: by the command
    applied_at = models.DateTimeField(db_default=Now(), editable=False)
    removed = models.JSONField(default=dict)  # rows by the key of a rule

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"retention run {self.pk}"
