"""Work that takes longer than a request: its state, progress and outcome."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now


class Job(models.Model):
    """One piece of background work. The queue engine only delivers; this row owns state and progress."""

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        SUCCEEDED = "succeeded", "succeeded"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    kind = models.CharField(max_length=40)  # a name registered with jobs.registry
    title = models.CharField(max_length=200)
    arguments = models.JSONField(default=dict)  # keys of rows, never content
    queue = models.CharField(max_length=20, default="default")
    # The study it belongs to, by key: this app knows no studies. Membership is checked by `studies.access`.
    study_id = models.BigIntegerField(null=True, blank=True, db_index=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    state = models.CharField(max_length=12, choices=State, default=State.QUEUED)
    steps_done = models.PositiveIntegerField(default=0)
    steps_total = models.PositiveIntegerField(null=True, blank=True)
    message = models.CharField(max_length=300, blank=True)
    error = models.TextField(blank=True)  # one sentence a person can act on
    attempts = models.PositiveSmallIntegerField(default=0)
    cancel_requested = models.BooleanField(default=False)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    result = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(steps_total__isnull=True) | Q(steps_done__lte=F("steps_total")),
                name="job_steps_done_within_total",
            ),
            models.CheckConstraint(
                condition=Q(finished_at__isnull=False, state__in=["succeeded", "failed", "cancelled"])
                | Q(finished_at__isnull=True, state__in=["queued", "running"]),
                name="job_finished_exactly_when_ended",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["state", "queue"], name="job_state_queue")]
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return self.title
