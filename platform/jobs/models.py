"""Jobs: work that takes longer than a request, with state, progress and result."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now


class Job(models.Model):
    """A background job. The engine only delivers its key; this row has its state and progress."""

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        SUCCEEDED = "succeeded", "succeeded"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    kind = models.CharField(max_length=40)  # a kind registered in jobs.run.registry
    title = models.CharField(max_length=200)
    arguments = models.JSONField(default=dict)  # keys of rows, never content
    queue = models.CharField(max_length=20, default="default")
    # The same for all jobs of a team; "" without a team.
    team = models.CharField(max_length=32, blank=True)
    # Key of its study; this app does not import studies. `studies.access` checks membership.
    study_id = models.BigIntegerField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    state = models.CharField(max_length=12, choices=State, default=State.QUEUED)
    step = models.CharField(max_length=100, blank=True)  # the current step, such as “Reading”
    steps_done = models.PositiveIntegerField(default=0)
    steps_total = models.PositiveIntegerField(null=True, blank=True)
    rate = models.FloatField(null=True, blank=True)  # recent steps per second
    message = models.CharField(max_length=300, blank=True)
    error = models.TextField(blank=True)  # one sentence that tells a person what to do
    error_code = models.CharField(max_length=60, blank=True)
    attempts = models.PositiveIntegerField(default=0)  # grows with each claim, to distinguish workers
    # Consecutive deaths of workers without progress, and the fewest steps ever left at a death.
    deaths = models.PositiveSmallIntegerField(default=0)
    fewest_left = models.PositiveIntegerField(null=True, blank=True)
    cancel_requested = models.BooleanField(default=False)
    worker = models.CharField(max_length=100, blank=True)  # current or last worker
    # Last report of its worker; while the job is queued, its last announcement to workers.
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    queued_at = models.DateTimeField(null=True, blank=True)
    wait_until = models.DateTimeField(null=True, blank=True)  # not claimed or announced earlier
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
            models.CheckConstraint(
                condition=Q(wait_until__isnull=True) | Q(state="queued"), name="job_waits_only_while_queued"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["state", "queue"], name="job_state_queue"),
            models.Index(fields=["team"], condition=~Q(team=""), name="job_team"),
            models.Index(fields=["study_id", "id"], name="job_study_latest"),
        ]
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return self.title

    @property
    def ended(self) -> bool:
        return self.state not in {self.State.QUEUED, self.State.RUNNING}

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the end of the current step at the recent rate; None if unknown."""
        if self.state != self.State.RUNNING or not self.rate or self.steps_total is None:
            return None
        return (self.steps_total - self.steps_done) / self.rate


class JobLine(models.Model):
    """One line of a job's log; the oldest lines are deleted when there are too many."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="lines")
    at = models.DateTimeField()
    text = models.CharField(max_length=500)

    class Meta:
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return self.text


class Worker(models.Model):
    """A running worker process; a worker that dies stops reporting and is removed after a day."""

    name = models.CharField(max_length=100, unique=True)
    host = models.CharField(max_length=80)
    queues = models.JSONField(default=list)
    started_at = models.DateTimeField()
    heartbeat_at = models.DateTimeField(db_index=True)
    idle_since = models.DateTimeField(null=True, blank=True)  # null while it runs a job

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name
