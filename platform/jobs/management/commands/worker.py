import logging
import threading
from typing import Any

from django.conf import settings
from django.db import OperationalError, connection
from django_tasks_db.management.commands.db_worker import Command as QueueWorker

from jobs.sweeping import sweep

logger = logging.getLogger(__name__)


class Command(QueueWorker):
    """The database worker of the queue engine, which also brings back what dead workers left."""

    help = (
        "Do background jobs of all queues, and queue again what dead workers left. Options as for db_worker."
    )

    def add_arguments(self, parser: Any) -> None:
        super().add_arguments(parser)
        parser.set_defaults(queue_name="*", reload=False)

    def handle(self, *args: Any, **options: Any) -> None:
        sweep()
        stopped = threading.Event()
        thread = threading.Thread(target=_keep_sweeping, args=(stopped,), name="job sweeper", daemon=True)
        thread.start()
        try:
            super().handle(*args, **options)
        finally:
            stopped.set()
            thread.join()


def _keep_sweeping(stopped: threading.Event) -> None:
    try:
        while not stopped.wait(settings.JOB_LEASE_SECONDS / 2):
            try:
                sweep()
            except OperationalError as error:
                logger.warning("Jobs could not be swept: %s", error)
    finally:
        connection.close()
