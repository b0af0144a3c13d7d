"""Claims to jobs, made by a conditional UPDATE and kept by renewing a lease."""

import logging
import threading
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connection
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from jobs.models import Job

logger = logging.getLogger(__name__)


def lease_end(now: datetime) -> datetime:
    """Return the end of a lease that is taken or renewed `now`."""
    return now + timedelta(seconds=settings.JOB_LEASE_SECONDS)


def claim(job_id: int, *, worker: str = "") -> Job | None:
    """Claim a queued job that is due and return it, else return None.

    A job whose worker died is not claimed here: the sweeper counts the death and queues the job again.
    """
    now = timezone.now()
    is_due = Q(wait_until__isnull=True) | Q(wait_until__lte=now)
    claimed = Job.objects.filter(is_due, pk=job_id, state=Job.State.QUEUED).update(
        state=Job.State.RUNNING,
        attempts=F("attempts") + 1,
        started_at=Coalesce(F("started_at"), now),
        worker=worker,
        heartbeat_at=now,
        lease_expires_at=lease_end(now),
        wait_until=None,
        rate=None,
        error="",
        error_code="",
    )
    return Job.objects.get(pk=job_id) if claimed else None


def held(job: Job) -> QuerySet[Job]:
    """Return the row of a claimed job while the claim is valid.

    The attempt number grows with each claim, so a worker that lost its claim finds no row.
    """
    return Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, attempts=job.attempts)


class Heartbeat:
    """Renews the lease in a separate thread, because a step such as loading a model may outlast the lease."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"heartbeat of job {job.pk}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._thread.join()

    def _beat(self) -> None:
        try:
            while not self._stopped.wait(settings.JOB_LEASE_SECONDS / 3):
                self._renew()
        finally:
            connection.close()

    def _renew(self) -> None:
        now = timezone.now()
        close_old_connections()  # a connection broken by a restart of the database would stay broken
        try:
            if not held(self._job).update(heartbeat_at=now, lease_expires_at=lease_end(now)):
                self._stopped.set()
        except (DatabaseError, InterfaceError) as error:
            # The database is busy or restarting: the next beat tries again; if all fail, the lease expires.
            logger.warning("The lease of job %s could not be renewed", self._job.pk, exc_info=error)
