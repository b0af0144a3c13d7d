import argparse
import logging
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connection

from foundation.commands import DomainCommand
from jobs.engine import backends, shutdown, workers
from jobs.engine.queues import QUEUES
from jobs.run.recovery import sweep

logger = logging.getLogger(__name__)


class Command(DomainCommand):
    help = (
        "Run background jobs, one at a time, and queue jobs of dead workers again. Start as many as you like, "
        "on any machine that shares database and files. After SIGTERM, a worker releases its job at "
        "the next step, and another worker continues it."
    )
    example = "python manage.py worker --queue gpu"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--queue",
            action="append",
            choices=QUEUES,
            help="run only jobs from this queue; may be repeated (default: all queues)",
        )
        parser.add_argument(
            "--interval",
            type=float,
            default=1.0,
            metavar="SECONDS",
            help="how often to look for jobs in the database if there were none (default: 1)",
        )
        parser.add_argument("--batch", action="store_true", help="end when the database has no more jobs")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["interval"] > 0:
            self.usage_error("--interval is a number of seconds above 0.")
        if options["batch"] and backends.uses_celery():
            self.usage_error(
                "--batch is for jobs queued in the database; Celery's workers run until stopped."
            )
        queues = options["queue"] or list(QUEUES)
        shutdown.forget()
        with _ending_on_sigterm():
            sweep()
            with workers.announced(queues) as worker, _sweeping():
                if options["verbosity"]:
                    self.stderr.write(f"Worker {worker.name} takes jobs of {', '.join(queues)}.", str)
                backends.work(queues, interval=options["interval"], batch=options["batch"])


@contextmanager
def _ending_on_sigterm() -> Iterator[None]:
    """End in an orderly way also before the engine listens to signals itself."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _sweeping() -> Iterator[None]:
    stopped = threading.Event()
    thread = threading.Thread(target=_keep_sweeping, args=(stopped,), name="job sweeper", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def _keep_sweeping(stopped: threading.Event) -> None:
    try:
        while not stopped.wait(settings.JOB_LEASE_SECONDS / 2):
            close_old_connections()
            try:
                sweep()
            except (DatabaseError, InterfaceError) as error:
                logger.warning("Jobs could not be swept", exc_info=error)
    finally:
        connection.close()
