"""Recovery of jobs whose worker or message was lost."""

import logging
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string

from jobs.engine import workers
from jobs.models import Job, Worker
from jobs.progress import log
from jobs.run.execution import deliver

logger = logging.getLogger(__name__)

_LONGEST_WAIT = timedelta(minutes=15)


@dataclass(frozen=True)
class Swept:
    """The keys of the jobs that a sweep changed."""

    requeued: tuple[int, ...]
    given_up: tuple[int, ...]
    redelivered: tuple[int, ...]


def sweep() -> Swept:
    """Queue jobs of dead workers again, and give up jobs whose workers keep dying."""
    lost = list(Job.objects.filter(state=Job.State.RUNNING, lease_expires_at__lt=timezone.now()))
    hopeless = [job for job in lost if _deaths(job) >= settings.JOB_MAX_ATTEMPTS]
    swept = Swept(
        requeued=tuple(job.pk for job in lost if job not in hopeless and _requeue(job)),
        given_up=tuple(job.pk for job in hopeless if _give_up(job)),
        redelivered=tuple(job.pk for job in [*_due(), *_unheard()] if _redeliver(job)),
    )
    workers.forget_silent()
    _look_after_the_rest()
    return swept


@transaction.atomic
def requeue_restored(*, reason: str) -> int:
    """Queue all jobs that were running in a restored database, whose workers are gone; return their number.

    Messages are not restored, so all queued jobs become due for the next sweep to announce.
    """
    Worker.objects.all().delete()
    now = timezone.now()
    running = Job.objects.filter(state=Job.State.RUNNING)
    for job in running:
        log.note(job, reason)
    number = running.update(
        state=Job.State.QUEUED, heartbeat_at=now, queued_at=now, lease_expires_at=None, wait_until=now
    )
    Job.objects.filter(state=Job.State.QUEUED, wait_until=None).update(wait_until=now)
    return number


def back_off(deaths: int) -> timedelta:
    """Return the wait of a job after the n-th consecutive death of its worker without progress.

    There is no wait after the first death, which may be a restart of the machine; then the wait doubles each time.
    """
    if deaths < 2:
        return timedelta()
    doublings: int = 2 ** (deaths - 2)
    return min(timedelta(seconds=settings.JOB_BACKOFF_SECONDS) * doublings, _LONGEST_WAIT)


def _due() -> QuerySet[Job]:
    """Return queued jobs whose wait is over."""
    return Job.objects.filter(state=Job.State.QUEUED, wait_until__lte=timezone.now())


def _unheard() -> QuerySet[Job]:
    """Return queued jobs whose message was probably lost, because a worker of their queue is idle."""
    since = timedelta(seconds=settings.JOB_REDELIVER_SECONDS)
    queues = workers.queues_with_idle_workers(idle_for=since)
    announced = Job.objects.filter(state=Job.State.QUEUED, wait_until=None, queue__in=queues)
    return announced.filter(heartbeat_at__lt=timezone.now() - since)


def _look_after_the_rest() -> None:
    for path in settings.JOB_SWEEPS:
        try:
            import_string(path)()
        except Exception:
            # An error here must not prevent the recovery of jobs.
            logger.exception("%s failed while jobs were swept", path)


def _left(job: Job) -> int | None:
    return None if job.steps_total is None else job.steps_total - job.steps_done


def _deaths(job: Job) -> int:
    """Return the number of consecutive deaths of the job's workers, including this death.

    Only a new minimum of steps left counts as progress, so that no job is requeued for ever.
    """
    steps_left = _left(job)
    further = steps_left is not None and job.fewest_left is not None and steps_left < job.fewest_left
    return 1 if further else job.deaths + 1


def _requeue(job: Job) -> bool:
    deaths, steps_left, now = _deaths(job), _left(job), timezone.now()
    wait = back_off(deaths)
    fewest = [number for number in (steps_left, job.fewest_left) if number is not None]
    with transaction.atomic():
        row_count = _still(job).update(
            state=Job.State.QUEUED,
            deaths=deaths,
            fewest_left=min(fewest, default=None),
            heartbeat_at=now,
            queued_at=now,
            lease_expires_at=None,
            wait_until=now + wait if wait else None,
        )
        if not row_count:
            return False
        later = f" in {wait.total_seconds():.0f} s" if wait else ""
        log.note(job, f"The worker {job.worker} died; the job is queued again{later}.")
        if not wait:
            deliver(job)
    return True


def _give_up(job: Job) -> bool:
    deaths = _deaths(job)
    error = (
        f"The worker died {deaths} times while running this job, so the job is not tried again automatically."
    )
    row_count = _still(job).update(
        state=Job.State.FAILED,
        deaths=deaths,
        finished_at=timezone.now(),
        lease_expires_at=None,
        error=error,
        error_code="given_up",
    )
    if row_count:
        log.note(job, f"Failed. {error}")
    return bool(row_count)


def _redeliver(job: Job) -> bool:
    with transaction.atomic():
        row_count = _still(job).update(heartbeat_at=timezone.now(), wait_until=None)
        if row_count:
            deliver(job)
    return bool(row_count)


def _still(job: Job) -> QuerySet[Job]:
    # Matches nothing if another sweeper or a worker has changed the row meanwhile.
    return Job.objects.filter(
        pk=job.pk, state=job.state, attempts=job.attempts, heartbeat_at=job.heartbeat_at
    )
