"""The running workers, which report regularly so that people can see whether any would run their job."""

import logging
import os
import secrets
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connection
from django.db.models import QuerySet
from django.utils import timezone

from jobs.models import Worker

logger = logging.getLogger(__name__)

_FORGOTTEN_AFTER = timedelta(days=1)
_name = ""  # of this process as a worker


def name() -> str:
    """Return the worker name of this process, or "" if it is not a worker."""
    return _name


def console_name() -> str:
    """Return the name of this process when it runs a job without being a worker."""
    return f"{socket.gethostname()[:80]}:{os.getpid()}"


def gone(console: str) -> bool:
    """Return whether the process with this `console_name` has ended; False if it ran on another machine."""
    host, _, pid = console.rpartition(":")
    if host != socket.gethostname()[:80] or not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def alive() -> QuerySet[Worker]:
    """Return the workers that have reported within a lease."""
    since = timezone.now() - timedelta(seconds=settings.JOB_LEASE_SECONDS)
    return Worker.objects.filter(heartbeat_at__gte=since)


def queues_with_workers() -> set[str]:
    """Return the queues that have at least one worker."""
    return {queue for queues in alive().values_list("queues", flat=True) for queue in queues}


def queues_with_idle_workers(*, idle_for: timedelta) -> set[str]:
    """Return the queues of workers that have been idle for longer than `idle_for`."""
    idle = alive().filter(idle_since__lt=timezone.now() - idle_for)
    return {queue for queues in idle.values_list("queues", flat=True) for queue in queues}


def forget_silent() -> int:
    """Remove workers that have not reported for a day; return their number."""
    return Worker.objects.filter(heartbeat_at__lt=timezone.now() - _FORGOTTEN_AFTER).delete()[0]


@contextmanager
def announced(queues: Sequence[str]) -> Iterator[Worker]:
    """Register this process as a worker of these queues during the block."""
    global _name
    now = timezone.now()
    host = socket.gethostname()[:80]
    # Add a random part, because containers reuse the same few process ids.
    unique = f"{host}:{os.getpid()}:{secrets.token_hex(3)}"
    worker = Worker.objects.create(
        name=unique, host=host, queues=list(queues), started_at=now, heartbeat_at=now, idle_since=now
    )
    _name = worker.name
    stopped = threading.Event()
    thread = threading.Thread(target=_beat, args=(worker, stopped), name="worker heartbeat", daemon=True)
    thread.start()
    try:
        yield worker
    finally:
        _name = ""
        stopped.set()
        thread.join()
        with suppress(DatabaseError, InterfaceError):  # otherwise, the row is removed after a day
            Worker.objects.filter(pk=worker.pk).delete()


@contextmanager
def busy() -> Iterator[None]:
    """Mark this worker as busy during the block."""
    Worker.objects.filter(name=_name).update(idle_since=None)
    try:
        yield
    finally:
        Worker.objects.filter(name=_name).update(idle_since=timezone.now())


def _beat(worker: Worker, stopped: threading.Event) -> None:
    try:
        while not stopped.wait(settings.JOB_LEASE_SECONDS / 3):
            close_old_connections()
            try:
                Worker.objects.filter(pk=worker.pk).update(heartbeat_at=timezone.now())
            except (DatabaseError, InterfaceError) as error:
                logger.warning("The worker could not report that it is alive", exc_info=error)
    finally:
        connection.close()
