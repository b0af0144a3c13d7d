"""Cancelling and retrying jobs."""

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from foundation.errors import Conflict
from jobs.engine import workers
from jobs.models import Job
from jobs.progress import log
from jobs.run.execution import deliver
from jobs.run.teams import team_of


@transaction.atomic
def cancel(*, job: Job, by: User | None = None) -> Job:
    """Cancel a job and its team. Idle jobs end at once, running jobs at the next step.

    Completed steps are kept. Raises Conflict if all jobs have ended.
    """
    cancelled = [member for member in team_of(job) if _cancel(member)]
    if not cancelled:
        raise Conflict("job_ended", "The job has already ended, so there is nothing to cancel.")
    for member in cancelled:
        log.note(member, f"{by or 'Somebody'} cancelled the job.")
    job.refresh_from_db()
    return job


def _cancel(job: Job) -> bool:
    now = timezone.now()
    idle = Q(state=Job.State.QUEUED) | Q(state=Job.State.RUNNING, lease_expires_at__lt=now)
    stopped = Job.objects.filter(idle, pk=job.pk).update(
        state=Job.State.CANCELLED, finished_at=now, lease_expires_at=None, wait_until=None
    )
    running = Job.objects.filter(pk=job.pk, state=Job.State.RUNNING)
    return bool(stopped or running.update(cancel_requested=True))


@transaction.atomic
def put_down(*, job: Job) -> bool:
    """Cancel a running job whose process is gone, so that the sweeper does not requeue it; return whether it was."""
    now = timezone.now()
    running = Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, attempts=job.attempts)
    if not workers.gone(job.worker):
        running = running.filter(lease_expires_at__lt=now)
    ended = running.update(state=Job.State.CANCELLED, finished_at=now, lease_expires_at=None)
    if ended:
        log.note(job, "The process of this job was killed. A newer job will do the remaining work.")
    return bool(ended)


@transaction.atomic
def retry(*, job: Job, by: User | None = None) -> Job:
    """Queue a failed or cancelled job again, with the failed and cancelled jobs of its team.

    Jobs skip completed steps. Raises Conflict if no job has failed or was cancelled.
    """
    requeued = [member for member in team_of(job) if _requeue(member)]
    if not requeued:
        raise Conflict("job_not_ended", "Only a job that failed or was cancelled can be tried again.")
    for member in requeued:
        log.note(member, f"{by or 'Somebody'} asked to try again.")
        deliver(member)
    job.refresh_from_db()
    return job


def _requeue(job: Job) -> bool:
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
    return bool(requeued)
