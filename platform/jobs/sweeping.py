"""Jobs whose worker or message was lost come back."""

import logging
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string

from jobs.models import Job
from jobs.running import deliver

logger = logging.getLogger(__name__)

# A message is sent again when nobody has taken the job for this long; a second message is harmless.
_REDELIVER_AFTER = timedelta(minutes=15)


@dataclass(frozen=True)
class Swept:
    """What a sweep did: keys of jobs."""

    requeued: tuple[int, ...]
    given_up: tuple[int, ...]
    redelivered: tuple[int, ...]


def sweep() -> Swept:
    """Queue again what was left behind by workers that died; give up what kept killing them."""
    now = timezone.now()
    lost = Job.objects.filter(state=Job.State.RUNNING, lease_expires_at__lt=now)
    waiting = Job.objects.filter(state=Job.State.QUEUED, heartbeat_at__lt=now - _REDELIVER_AFTER)
    swept = Swept(
        requeued=tuple(
            job.pk for job in lost.filter(attempts__lt=settings.JOB_MAX_ATTEMPTS) if _requeue(job)
        ),
        given_up=tuple(
            job.pk for job in lost.filter(attempts__gte=settings.JOB_MAX_ATTEMPTS) if _give_up(job)
        ),
        redelivered=tuple(job.pk for job in waiting if _redeliver(job)),
    )
    _look_after_the_rest()
    return swept


def _look_after_the_rest() -> None:
    for path in settings.JOB_SWEEPS:
        try:
            import_string(path)()
        except Exception:
            # Whatever is wrong there, jobs still have to be brought back.
            logger.exception("%s failed while jobs were swept", path)


def _requeue(job: Job) -> bool:
    with transaction.atomic():
        found = _still(job).update(state=Job.State.QUEUED, heartbeat_at=timezone.now(), lease_expires_at=None)
        if found:
            deliver(job)
    return bool(found)


def _give_up(job: Job) -> bool:
    found = _still(job).update(
        state=Job.State.FAILED,
        finished_at=timezone.now(),
        lease_expires_at=None,
        error=f"The worker died {job.attempts} times while doing this, so it is not tried again by itself.",
    )
    return bool(found)


def _redeliver(job: Job) -> bool:
    with transaction.atomic():
        found = _still(job).update(heartbeat_at=timezone.now())
        if found:
            deliver(job)
    return bool(found)


def _still(job: Job) -> QuerySet[Job]:
    # Another sweeper, or a worker, may have been faster: then the row no longer looks as it was read.
    return Job.objects.filter(
        pk=job.pk, state=job.state, attempts=job.attempts, heartbeat_at=job.heartbeat_at
    )
