"""Worker processes of both engines, and a check whether the engine is reachable."""

import logging
import sys
import time
from collections.abc import Callable, Sequence
from types import FrameType

from django.db import DatabaseError, InterfaceError, OperationalError, close_old_connections
from django_tasks import task_backends

from jobs.engine import shutdown as engine_shutdown
from jobs.engine.celery_backend import CeleryBackend
from jobs.engine.queues import QueueUnreachable

logger = logging.getLogger(__name__)

_SECONDS_BETWEEN_TRIES = 2.0


def uses_celery() -> bool:
    """Return whether Celery, and not the database, delivers jobs to workers."""
    return isinstance(task_backends["default"], CeleryBackend)


def trouble() -> str:
    """Return the type of the error that keeps the engine from accepting messages, or ""."""
    try:
        if uses_celery():
            _reach_broker()
        else:
            from django_tasks_db.models import DBTaskResult

            DBTaskResult.objects.only("pk").first()
    except (DatabaseError, QueueUnreachable) as error:
        return type(error.__cause__ or error).__name__
    return ""


def work(queues: Sequence[str], *, interval: float, batch: bool, ready: Callable[[], None]) -> None:
    """Run jobs from these queues, one at a time, until the process is asked to stop.

    `ready` is called before the first job, once the process handles signals: Ctrl-C during the import of the engine
    may be lost.
    """
    if uses_celery():
        _work_with_celery(queues, ready=ready)
    else:
        _work_with_database(queues, interval=interval, batch=batch, ready=ready)


def _reach_broker() -> None:
    from kombu.exceptions import OperationalError as BrokerError

    from jobs.engine.celery_app import app

    try:
        with app.connection_for_write(connect_timeout=2) as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, timeout=3)
    except (BrokerError, OSError) as error:
        raise QueueUnreachable from error


def _work_with_celery(queues: Sequence[str], *, ready: Callable[[], None]) -> None:
    from celery.signals import worker_ready, worker_shutting_down

    from jobs.engine.celery_app import app, queue_named

    worker_ready.connect(lambda **_: ready(), weak=False)
    worker_shutting_down.connect(_stop_job, weak=False)
    # The job runs in a thread, so that the process keeps answering the broker; only one, so that jobs do not compete.
    worker = app.Worker(
        pool="threads",
        concurrency=1,
        queues=[queue_named(queue) for queue in queues],
        loglevel=logging.WARNING,
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()


def _stop_job(**kwargs: object) -> None:  # noqa: ARG001
    engine_shutdown.ask()


def _work_with_database(
    queues: Sequence[str], *, interval: float, batch: bool, ready: Callable[[], None]
) -> None:
    # The models of this library can be imported only after all apps are loaded.
    from django_tasks_db.management.commands.db_worker import Worker

    class StoppingWorker(Worker):
        def shutdown(self, signum: int, frame: FrameType | None) -> None:
            engine_shutdown.ask()
            try:
                super().shutdown(signum, frame)
            except RuntimeError:  # shutdown logs, which Python refuses while it interrupts another log write
                again, self.running = not self.running, False
                if again or not self.running_task:
                    sys.exit(int(again))

    worker = StoppingWorker(
        queue_names=list(queues),
        excluded_queue_names=[],
        interval=interval,
        batch=batch,
        backend_name="default",
        startup_delay=False,
        max_tasks=None,
        worker_id="",
    )
    worker.configure_signals()
    ready()
    while worker.running:
        try:
            worker.run()
            return
        except (OperationalError, InterfaceError) as error:
            # The database may be restarting: wait for it, as the web server does.
            logger.warning("The database does not answer", exc_info=error)
            close_old_connections()
            time.sleep(_SECONDS_BETWEEN_TRIES)
