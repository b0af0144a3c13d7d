"""Django's SQLite back-end, with a queue of writers, because SQLite makes them retry after ever longer pauses."""

import fcntl
import os
import time
from typing import Any

from django.db.backends.sqlite3 import base


class DatabaseWrapper(base.DatabaseWrapper):
    """Transactions wait for a lock file beside the database, which they try every millisecond.

    The lock only orders writers: SQLite's own lock isolates transactions, including those of other programs. The
    lock belongs to an open file, so a killed process releases it. After SQLite's timeout, the transaction begins
    without the lock and may be refused as usual.
    """

    _queue: int | None = None  # descriptor of the lock file
    LOOK_EVERY = 0.001  # seconds; SQLite's own pauses grow to 0.1 s

    def _start_transaction_under_autocommit(self) -> None:
        self._wait_for_turn()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]  # the stubs leave it out
        except BaseException:
            self._end_turn()
            raise

    def _commit(self) -> None:
        try:
            super()._commit()  # type: ignore[misc]  # the stubs leave it out
        finally:
            self._end_turn()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]  # the stubs leave it out
        finally:
            self._end_turn()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]  # the stubs leave it out
        finally:
            if self._queue is not None:
                os.close(self._queue)
                self._queue = None

    def _wait_for_turn(self) -> None:
        name: Any = self.settings_dict["NAME"]
        if self.is_in_memory_db():
            return
        if self._queue is None:
            self._queue = os.open(f"{name}-queue", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        until = time.monotonic() + self.settings_dict["OPTIONS"].get("timeout", 5)
        while time.monotonic() < until:
            try:
                fcntl.flock(self._queue, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(self.LOOK_EVERY)
            else:
                return

    def _end_turn(self) -> None:
        if self._queue is not None:
            fcntl.flock(self._queue, fcntl.LOCK_UN)
