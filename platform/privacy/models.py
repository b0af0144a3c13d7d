"""Records of erasures and of applied retention rules, without names."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class Erasure(models.Model):
    """An erased person, identified by the keyed hash of their random code, to find them in restored backups."""

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
    """One application of the retention rules, with the number of rows that each rule removed."""

    day = models.DateField(null=True, blank=True, unique=True)  # set by workers; null for runs of the command
    applied_at = models.DateTimeField(db_default=Now(), editable=False)
    removed = models.JSONField(default=dict)  # key of a rule → number of rows

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"retention run {self.pk}"
