"""From a job that was asked for to one that is done: queued for a worker, or done here and now."""

import logging
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.errors import Conflict, DomainError
from accounts.models import User
from jobs.leases import Heartbeat, claim, held
from jobs.models import Job
from jobs.progress import Cancelled, JobProgress, LeaseLost, Progress
from jobs.registry import handler_of
from jobs.tasks import run_job

logger = logging.getLogger(__name__)


@transaction.atomic
def enqueue(
    *,
    kind: str,
    title: str,
    arguments: dict[str, Any],
    by: User | None,
    study_id: int | None = None,
    queue: str = "default",
) -> Job:
    """Ask for background work. `arguments` are keys of rows and names of files, never content."""
    job = prepare(kind=kind, title=title, arguments=arguments, by=by, study_id=study_id, queue=queue)
    deliver(job)
    return job


def prepare(
    *,
    kind: str,
    title: str,
    arguments: dict[str, Any],
    by: User | None,
    study_id: int | None = None,
    queue: str = "default",
) -> Job:
    """Write a job down without telling a worker: for `run_here`."""
    handler_of(kind)
    return Job.objects.create(
        kind=kind,
        title=title[:200],
        arguments=arguments,
        created_by=by,
        study_id=study_id,
        queue=queue,
        heartbeat_at=timezone.now(),
    )


def deliver(job: Job) -> None:
    """Tell the workers of the job, once the transaction that wrote it is committed."""
    transaction.on_commit(partial(run_job.using(queue_name=job.queue).enqueue, job.pk))


def execute(job_id: int) -> None:
    """Do a job in a worker. Nothing happens when it is done, cancelled or in someone else's hands."""
    job = claim(job_id)
    if job is None:
        return
    try:
        _perform(job, JobProgress(job))
    except DomainError:
        return  # Expected, and told on the job's page.


def run_here(job: Job, progress: Progress) -> Job:
    """Do a job in this process, shown to `progress` too. An expected failure is stored, and raised."""
    claimed = claim(job.pk)
    if claimed is None:
        raise Conflict("job_not_free", f"The job “{job.title}” is already running or has ended.")
    _perform(claimed, JobProgress(claimed, watcher=progress))
    claimed.refresh_from_db()
    return claimed


def _perform(job: Job, progress: JobProgress) -> None:
    try:
        with Heartbeat(job):
            result = handler_of(job.kind)(job, progress)
            progress.write()
    except Cancelled:
        _end(job, Job.State.CANCELLED)
    except LeaseLost:
        logger.warning("Job %s was taken over by another worker; this one lets go.", job.pk)
    except DomainError as error:
        _end(job, Job.State.FAILED, error=error.message)
        raise
    except KeyboardInterrupt:
        _end(job, Job.State.CANCELLED, error="Stopped at the console.")
        raise
    except Exception as error:
        # The boundary of all background work: whatever broke, the job must not look as if it were running.
        logger.exception("Job %s (%s) failed unexpectedly", job.pk, job.kind)
        kind = type(error).__name__
        _end(
            job,
            Job.State.FAILED,
            error=f"Stopped by an unexpected error ({kind}); the server's log has the details.",
        )
        raise
    else:
        _end(job, Job.State.SUCCEEDED, result=result or {})


def _end(job: Job, state: str, *, error: str = "", result: dict[str, Any] | None = None) -> None:
    ended = held(job).update(
        state=state, error=error, result=result or {}, finished_at=timezone.now(), lease_expires_at=None
    )
    if not ended:
        logger.warning("Job %s ended as %s after another worker had taken it over.", job.pk, state)
