"""Plans of studies, and their preregistrations."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from jobs.models import Job
from studies.models import Study


class StudyPlan(models.Model):
    """What a lead expects of a study, and what designs would find. Never changed: a new plan replaces it."""

    class Measure(models.TextChoices):
        THETA = "theta", "θ of one group"
        THETA_POOLED = "theta_pooled", "θ over all groups"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="plans")
    hypothesis = models.TextField()
    primary_measure = models.CharField(max_length=20, choices=Measure)
    parameters = models.JSONField()  # a `PlanParameters`
    # The rows of `analysis.metrics.plan_precision`; null until the job is done.
    results = models.JSONField(null=True)
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=~Q(hypothesis=""), name="plan_has_hypothesis"),
            models.CheckConstraint(
                condition=Q(primary_measure__in=["theta", "theta_pooled"]), name="plan_measure_known"
            ),
        ]
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"plan of {self.study}"


class Preregistration(models.Model):
    """What a study was going to do, written down before it did: one document, never changed."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="preregistrations")
    number = models.PositiveIntegerField()
    plan = models.ForeignKey(StudyPlan, on_delete=models.PROTECT, related_name="preregistrations")
    document = models.TextField()  # JSON, as it is downloaded
    sha256 = models.CharField(max_length=64)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["study", "number"], name="preregistration_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="preregistration_number_from_one"),
            models.CheckConstraint(condition=~Q(sha256=""), name="preregistration_has_digest"),
        ]
        ordering: ClassVar = ["study", "-number"]

    def __str__(self) -> str:
        return f"preregistration {self.number} of {self.study}"
