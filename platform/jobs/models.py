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

    kind = models.CharField(max_length=40)  # a name registered with jobs.run.registry
    title = models.CharField(max_length=200)
    arguments = models.JSONField(default=dict)  # keys of rows, never content
    queue = models.CharField(max_length=20, default="default")
    # Shared by the jobs that do one piece of work together; "" for a job of its own.
    team = models.CharField(max_length=32, blank=True)
    # The study it belongs to, by key: this app knows no studies. Membership is checked by `studies.access`.
    study_id = models.BigIntegerField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    state = models.CharField(max_length=12, choices=State, default=State.QUEUED)
    step = models.CharField(max_length=100, blank=True)  # the part of the work it is at, such as “Reading”
    steps_done = models.PositiveIntegerField(default=0)
    steps_total = models.PositiveIntegerField(null=True, blank=True)
    rate = models.FloatField(null=True, blank=True)  # steps a second, of late
    message = models.CharField(max_length=300, blank=True)
    error = models.TextField(blank=True)  # one sentence a person can act on
    error_code = models.CharField(max_length=60, blank=True)
    attempts = models.PositiveIntegerField(default=0)  # grows with each claim, so that it tells workers apart
    # How often in a row a worker died without getting further, and the fewest steps that were ever left then.
    deaths = models.PositiveSmallIntegerField(default=0)
    fewest_left = models.PositiveIntegerField(null=True, blank=True)
    cancel_requested = models.BooleanField(default=False)
    worker = models.CharField(max_length=100, blank=True)  # who has it, or had it last
    # When its worker was last heard of; while it is queued, when the workers were last told of it.
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    queued_at = models.DateTimeField(null=True, blank=True)
    wait_until = models.DateTimeField(null=True, blank=True)  # nobody takes it earlier, nor is told of it
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
        """How long the current part will take at the recent pace; None if that is unknown."""
        if self.state != self.State.RUNNING or not self.rate or self.steps_total is None:
            return None
        return (self.steps_total - self.steps_done) / self.rate


class JobLine(models.Model):
    """One line of a job's log. The oldest go when there are too many."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="lines")
    at = models.DateTimeField()
    text = models.CharField(max_length=500)

    class Meta:
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return self.text


class Worker(models.Model):
    """A worker process, for as long as it runs; one that dies falls silent and is forgotten after a day."""

    name = models.CharField(max_length=100, unique=True)
    host = models.CharField(max_length=80)
    queues = models.JSONField(default=list)
    started_at = models.DateTimeField()
    heartbeat_at = models.DateTimeField(db_index=True)
    idle_since = models.DateTimeField(null=True, blank=True)  # null while it does a job

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name
