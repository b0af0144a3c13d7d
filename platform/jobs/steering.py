"""What people do to a job: cancel it, try it again."""

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.errors import Conflict
from accounts.models import User
from jobs import log, workers
from jobs.models import Job
from jobs.running import deliver


@transaction.atomic
def cancel(*, job: Job, by: User | None = None) -> Job:
    """Stop a job: at once when nobody works on it, else at its next step. What it did so far stays."""
    now = timezone.now()
    idle = Q(state=Job.State.QUEUED) | Q(state=Job.State.RUNNING, lease_expires_at__lt=now)
    stopped = Job.objects.filter(idle, pk=job.pk).update(
        state=Job.State.CANCELLED, finished_at=now, lease_expires_at=None, wait_until=None
    )
    if not stopped and not Job.objects.filter(pk=job.pk, state=Job.State.RUNNING).update(
        cancel_requested=True
    ):
        raise Conflict("job_ended", "The job has already ended, so there is nothing to cancel.")
    log.note(job, f"{by or 'Somebody'} cancelled the job.")
    job.refresh_from_db()
    return job


@transaction.atomic
def put_down(*, job: Job) -> bool:
    """End a running job whose process is gone, so that the sweeper does not give it to a worker; whether it was."""
    now = timezone.now()
    running = Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, attempts=job.attempts)
    if not workers.gone(job.worker):
        running = running.filter(lease_expires_at__lt=now)
    ended = running.update(state=Job.State.CANCELLED, finished_at=now, lease_expires_at=None)
    if ended:
        log.note(job, "Its process was killed; a newer job does what it left.")
    return bool(ended)


@transaction.atomic
def retry(*, job: Job, by: User | None = None) -> Job:
    """Queue a failed or cancelled job again; it does only what is missing."""
    now = timezone.now()
    requeued = Job.objects.filter(pk=job.pk, state__in=[Job.State.FAILED, Job.State.CANCELLED]).update(
        state=Job.State.QUEUED,
        cancel_requested=False,
        error="",
        error_code="",
        message="",
        deaths=0,
        fewest_left=None,
        finished_at=None,
        heartbeat_at=now,
        queued_at=now,
        lease_expires_at=None,
    )
    if not requeued:
        raise Conflict("job_not_ended", "Only a job that failed or was cancelled can be tried again.")
    log.note(job, f"{by or 'Somebody'} asked to try again.")
    job.refresh_from_db()
    deliver(job)
    return job
