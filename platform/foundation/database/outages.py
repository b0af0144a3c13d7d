"""Logging of database outages: one line a minute instead of a traceback for each request and worker attempt."""

import logging
import threading
import time

from django.db import InterfaceError, OperationalError

# PostgreSQL's codes: connection exceptions, shutdown or start, too many connections, disk full, read-only.
_AWAY_CODES = ("08", "57P0", "53300", "53100", "25006")
_AWAY_WORDS = (
    "unable to open database file",
    "disk i/o error",
    "disk is full",
    "readonly database",
    "database is locked",
    "connection",  # psycopg's errors without a code: refused, closed, timed out
    "could not translate host name",
    "failed to resolve host",
    "the database system is",
)
_SECONDS_BETWEEN_LINES = 60.0


def database_away(error: BaseException | None) -> bool:
    """Return whether an error means that the database is unavailable, rather than that a query was wrong."""
    while error is not None:
        if isinstance(error, OperationalError | InterfaceError):
            code = getattr(error.__cause__, "sqlstate", None)
            if code:
                return str(code).startswith(_AWAY_CODES)
            return any(word in str(error).lower() for word in _AWAY_WORDS)
        error = error.__cause__ or error.__context__
    return False


class OutageFilter(logging.Filter):
    """Replaces records about an unavailable database by one line per minute with their number."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._written_at = -_SECONDS_BETWEEN_LINES
        self._left_out = 0

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if not database_away(error):
            return True
        with self._lock:
            if time.monotonic() - self._written_at < _SECONDS_BETWEEN_LINES:
                self._left_out += 1
                return False
            left_out, self._left_out = self._left_out, 0
            self._written_at = time.monotonic()
        reason = str(error).strip().splitlines()
        more = f" ({left_out:,} more since the last such line)" if left_out else ""
        record.msg = (
            f"The database does not answer: {reason[0][:300] if reason else type(error).__name__}{more}"
        )
        record.args = None
        record.exc_info = record.exc_text = None
        return True
