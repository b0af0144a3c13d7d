"""A job that has to wait for locks of another transaction, on PostgreSQL."""

import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
from django.db import connection, connections

from tests.foundation.database.postgres import postgres_url

WAITING = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


class Waiting:
    """A job in a thread, with a connection of its own."""

    def __init__(self, job: Callable[[], Any]) -> None:
        self._job, self._result = job, None
        self._thread = threading.Thread(target=self._run)

    def begin(self) -> None:
        """Start the job; return when it waits for a lock, or has ended without waiting."""
        self._thread.start()
        with psycopg.connect(postgres_url(connection.settings_dict["NAME"]), autocommit=True) as watching:
            while self._thread.is_alive() and not watching.execute(WAITING).fetchone():
                time.sleep(0.01)

    def result(self) -> Any:
        """Return what the job returned or raised."""
        self._thread.join()
        return self._result

    def _run(self) -> None:
        try:
            self._result = self._job()
        except Exception as error:  # returned to the test, which decides
            self._result = error
        finally:
            connections.close_all()
