import argparse
import gc
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connection

from foundation.commands import DomainCommand
from jobs.engine import backends, shutdown, workers
from jobs.engine.queues import QUEUES
from jobs.run import inboxes, registry
from jobs.run.recovery import sweep

logger = logging.getLogger(__name__)

USUAL_GARBAGE_THRESHOLDS = (700, 10, 10)  # defaults of Python 3.11, which manage.py raises


class Command(DomainCommand):
    requires_system_checks = "__all__"
    help = (
        "Run background jobs, one at a time, and queue jobs of dead workers again. Start as many workers as "
        "you like, "
        "on any machine that shares the database and the files. After SIGTERM, a worker releases its job at "
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
            help="seconds between checks for new jobs in the database (default: 1)",
        )
        parser.add_argument("--batch", action="store_true", help="stop when the database has no more jobs")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["interval"] > 0:
            self.usage_error("--interval must be a number of seconds above 0.")
        if options["batch"] and backends.uses_celery():
            self.usage_error(
                "--batch works only for jobs queued in the database. Celery's workers run until you stop them."
            )
        queues = options["queue"] or list(QUEUES)
        registry.load()  # before the first job, so that its time and memory exclude the imports
        # Jobs may leave gigabytes in reference cycles, so from here on garbage is collected as often as usual.
        gc.freeze()
        gc.set_threshold(*USUAL_GARBAGE_THRESHOLDS)
        shutdown.forget()
        with _ending_on_sigterm():
            sweep()
            with (
                workers.announced(queues) as worker,
                _repeating(sweep, settings.JOB_LEASE_SECONDS / 2, name="job sweeper"),
                _repeating(inboxes.read, inboxes.EVERY, name="inboxes"),
            ):

                def ready() -> None:
                    if options["verbosity"]:
                        self.stderr.write(
                            f"Worker {worker.name} runs jobs of these queues: {', '.join(queues)}.", str
                        )

                backends.work(queues, interval=options["interval"], batch=options["batch"], ready=ready)


@contextmanager
def _ending_on_sigterm() -> Iterator[None]:
    """Exit cleanly on SIGTERM before the engine handles signals itself."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _repeating(duty: Callable[[], object], seconds: float, *, name: str) -> Iterator[None]:
    """Call `duty` every `seconds` in a separate thread during the block."""
    stopped = threading.Event()
    thread = threading.Thread(target=_repeat, args=(duty, seconds, stopped), name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def _repeat(duty: Callable[[], object], seconds: float, stopped: threading.Event) -> None:
    try:
        while not stopped.wait(seconds):
            close_old_connections()
            try:
                duty()
            except (DatabaseError, InterfaceError) as error:
                name = threading.current_thread().name
                logger.warning("The database does not answer the %s", name, exc_info=error)
    finally:
        connection.close()
