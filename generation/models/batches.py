"""Batches: files of requests that an endpoint answers within a day."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from generation.models.probes import Answer, ProbeRun


class ProbeBatch(models.Model):
    """One file of requests. Its next step is stored before it is taken."""

    class State(models.TextChoices):
        FILLING = "filling", "being filled"
        UPLOADING = "uploading", "being uploaded"
        CREATING = "creating", "being submitted"
        WAITING = "waiting", "at the endpoint"
        ENDED = "ended", "ended"

    run = models.ForeignKey(ProbeRun, on_delete=models.CASCADE, related_name="batches")
    # In the file's name and the batch's metadata, to find both at the endpoint after an unconfirmed request.
    key = models.CharField(max_length=32, unique=True)
    state = models.CharField(max_length=10, choices=State, default=State.FILLING)
    file_id = models.CharField(max_length=200, blank=True)
    batch_id = models.CharField(max_length=200, blank=True)
    requests = models.PositiveIntegerField(default=0)
    answered = models.PositiveIntegerField(default=0)  # as the endpoint reports, while the batch is running
    result = models.CharField(max_length=300, blank=True)  # how the batch ended
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state__in=["filling", "uploading"], file_id="", batch_id="")
                | Q(state="creating", batch_id="") & ~Q(file_id="")
                | Q(state="waiting") & ~Q(file_id="") & ~Q(batch_id="")
                | Q(state="ended"),
                name="probe_batch_has_ids_of_its_state",
            ),
            models.CheckConstraint(
                condition=Q(state="ended", ended_at__isnull=False)
                | ~Q(state="ended") & Q(ended_at__isnull=True),
                name="probe_batch_ended_has_time",
            ),
            models.CheckConstraint(condition=~Q(key=""), name="probe_batch_has_key"),
        ]
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"batch {self.pk} of {self.run}"

    @property
    def file_name(self) -> str:
        return f"stereoscope-{self.key}.jsonl"


class BatchRequest(models.Model):
    """A pending question in a batch; deleted when its result is stored."""

    batch = models.ForeignKey(ProbeBatch, on_delete=models.CASCADE, related_name="under_way")
    # Unique, so that a question is in only one batch at a time.
    answer = models.OneToOneField(Answer, on_delete=models.CASCADE, related_name="batch_request")
    reserved = models.DecimalField(max_digits=14, decimal_places=8, default=0)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(reserved__gte=0), name="batch_request_reserved_not_negative"),
        ]
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return str(self.answer)
