"""How a worker process of either engine works, and whether the engine answers."""

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
    """Return whether jobs go to workers through Celery, and not through the database."""
    return isinstance(task_backends["default"], CeleryBackend)


def trouble() -> str:
    """Return what keeps the engine from taking a message now; "" when nothing does."""
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
    """Do jobs of these queues one after the other, until the process is asked to end.

    `ready` is called before the first job, when the process listens to signals: Ctrl-C while the engine is imported
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
    # A thread does the job, so that the process goes on answering the broker. One: a job has the machine to itself.
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
    # The models of this library can only be read once all apps are there.
    from django_tasks_db.management.commands.db_worker import Worker

    class StoppingWorker(Worker):
        def shutdown(self, signum: int, frame: FrameType | None) -> None:
            engine_shutdown.ask()
            try:
                super().shutdown(signum, frame)
            except (
                RuntimeError
            ):  # it logs, which Python refuses while the line that was interrupted is written
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
            # The database restarts: wait for it, as the web server does.
            logger.warning("The database does not answer", exc_info=error)
            close_old_connections()
            time.sleep(_SECONDS_BETWEEN_TRIES)
