"""Queueing jobs for workers, and running them in a worker or in this process."""

import logging
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import OperationalError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import User
from foundation.disks import NO_ROOM, no_room
from foundation.errors import Conflict, DomainError
from foundation.monitoring import tracing
from foundation.monitoring.log_context import JOB, context_of
from foundation.redaction import without_secrets
from jobs.engine import workers
from jobs.engine.leases import Heartbeat, claim, held
from jobs.engine.queues import DEFAULT, QueueUnreachable
from jobs.models import Job
from jobs.progress import log
from jobs.progress.reporter import Cancelled, Interrupted, JobProgress, LeaseLost, Progress, Resting
from jobs.run.registry import handler_of
from jobs.run.tasks import run_job

logger = logging.getLogger(__name__)
# A sweep queues no new job for this time after a failure.
RESTS = timedelta(minutes=5)


@transaction.atomic
def enqueue(
    *,
    kind: str,
    title: str,
    arguments: dict[str, Any],
    by: User | None,
    study_id: int | None = None,
    queue: str = DEFAULT,
    team: str = "",
) -> Job:
    """Queue a job. `arguments` are keys of rows and names of files, never content."""
    job = prepare(
        kind=kind, title=title, arguments=arguments, by=by, study_id=study_id, queue=queue, team=team
    )
    deliver(job)
    return job


def prepare(
    *,
    kind: str,
    title: str,
    arguments: dict[str, Any],
    by: User | None,
    study_id: int | None = None,
    queue: str = DEFAULT,
    team: str = "",
) -> Job:
    """Store a job without announcing it to workers, for `run_here`."""
    handler_of(kind)
    now = timezone.now()
    return Job.objects.create(
        kind=kind,
        title=title[:200],
        arguments=arguments,
        created_by=by,
        study_id=study_id,
        queue=queue,
        team=team,
        heartbeat_at=now,
        queued_at=now,
    )


def deliver(job: Job) -> None:
    """Announce the job to workers after the current transaction is committed."""
    transaction.on_commit(partial(_announce, job.pk, job.queue))


def may_enqueue(jobs: QuerySet[Job]) -> bool:
    """Return whether none of the jobs will run or has just failed; the failed job's page has the reason."""
    waiting = jobs.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING])
    failed = jobs.filter(state=Job.State.FAILED, finished_at__gt=timezone.now() - RESTS)
    return not waiting.exists() and not failed.exists()


def hurry(job: Job) -> None:
    """Let workers take a queued job now if it waits for a later time."""
    if job.wait_until is not None:
        job.wait_until = None
        job.save(update_fields=["wait_until"])
        deliver(job)


def _announce(job_id: int, queue: str) -> None:
    try:
        run_job.using(queue_name=queue).enqueue(job_id)
    except QueueUnreachable as error:
        # The job is stored, so nothing is lost: the sweeper announces it later.
        logger.warning("The workers could not be notified of job %s yet: %s", job_id, error)
        Job.objects.filter(pk=job_id, state=Job.State.QUEUED).update(wait_until=timezone.now())


def execute(job_id: int) -> None:
    """Run a job in a worker. Do nothing if it has ended or another worker has claimed it."""
    job = claim(job_id, worker=workers.name())
    if job is None:
        return
    log.note(job, f"Attempt {job.attempts} began on {job.worker or 'a worker'}.")
    try:
        with workers.busy():
            _perform(job, JobProgress(job))
    except DomainError:
        return  # an expected failure, shown on the job's page


def run_here(job: Job, progress: Progress) -> Job:
    """Run a job in this process, reporting to `progress` too. A failure is stored and raised."""
    claimed = claim(job.pk, worker=workers.console_name())
    if claimed is None:
        raise Conflict("job_not_free", f"The job “{job.title}” is already running or has ended.")
    _perform(claimed, JobProgress(claimed, watcher=progress))
    claimed.refresh_from_db()
    return claimed


def _perform(job: Job, progress: JobProgress) -> None:
    with context_of(JOB, str(job.pk)), tracing.traced() as span:
        span.name = f"job {job.kind}"
        tracing.note("stereoscope.job", job.pk)
        tracing.note("stereoscope.job.kind", job.kind)
        tracing.note("stereoscope.job.queue", job.queue)
        tracing.note("stereoscope.job.attempt", job.attempts)
        _attempt(job, progress)


def _attempt(job: Job, progress: JobProgress) -> None:
    try:
        with Heartbeat(job):
            result = handler_of(job.kind)(job, progress)
            progress.write()
    except Resting as resting:
        _put_aside(job, progress, resting.seconds)
    except Interrupted:
        _hand_back(job, progress)
    except Cancelled:
        _end(job, progress, Job.State.CANCELLED)
    except LeaseLost:
        logger.warning("Job %s was taken over by another worker; this one stops.", job.pk)
    except DomainError as error:
        _end(job, progress, Job.State.FAILED, error=error.message, code=error.code)
        raise
    except KeyboardInterrupt:
        _end(job, progress, Job.State.CANCELLED, error="The job was stopped at the console.", code="stopped")
        raise
    except Exception as error:
        # Whatever the error, the job must not remain marked as running.
        if no_room(error):
            logger.error("Job %s (%s) ran out of disk space", job.pk, job.kind, extra={"job_kind": job.kind})
            # If the database has no space either, the row stays until the sweeper requeues the job.
            with suppress(OperationalError):
                _end(job, progress, Job.State.FAILED, error=NO_ROOM, code="no_room")
            raise DomainError("no_room", NO_ROOM) from error
        logger.exception("Job %s (%s) failed unexpectedly", job.pk, job.kind, extra={"job_kind": job.kind})
        sentence = (
            f"An unexpected error ({type(error).__name__}) stopped the job. The server's log has the details."
        )
        _end(job, progress, Job.State.FAILED, error=sentence, code="unexpected")
        raise
    else:
        _end(job, progress, Job.State.SUCCEEDED, result=result or {})


def _end(
    job: Job,
    progress: JobProgress,
    state: Job.State,
    *,
    error: str = "",
    code: str = "",
    result: dict[str, Any] | None = None,
) -> None:
    _write_what_is_left(progress)
    tracing.note("stereoscope.job.state", state.value)
    error = without_secrets(error)
    ended = held(job).update(
        state=state,
        error=error,
        error_code=code,
        result=result or {},
        finished_at=timezone.now(),
        lease_expires_at=None,
    )
    if not ended:
        logger.warning("Job %s ended as %s after another worker had taken it over.", job.pk, state)
        return
    words = {Job.State.SUCCEEDED: "Done.", Job.State.CANCELLED: "Cancelled."}.get(state, "Failed.")
    log.note(job, f"{words} {error or (result or {}).get('summary', '')}")


@transaction.atomic
def _hand_back(job: Job, progress: JobProgress) -> None:
    """Queue the job again because its worker must stop."""
    _write_what_is_left(progress)
    now = timezone.now()
    if held(job).update(state=Job.State.QUEUED, queued_at=now, heartbeat_at=now, lease_expires_at=None):
        log.note(job, "The worker is being stopped. Another worker will continue the job.")
        deliver(job)


@transaction.atomic
def _put_aside(job: Job, progress: JobProgress, seconds: float) -> None:
    """Queue the job again in `seconds`; the sweeper announces it when it is due."""
    _write_what_is_left(progress)
    now = timezone.now()
    held(job).update(
        state=Job.State.QUEUED,
        queued_at=now,
        heartbeat_at=now,
        lease_expires_at=None,
        wait_until=now + timedelta(seconds=seconds),
    )


def _write_what_is_left(progress: JobProgress) -> None:
    with suppress(LeaseLost):
        progress.write()
