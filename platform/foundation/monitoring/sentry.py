"""Sending logged errors to Sentry, with only their types, codes and lines of code.

By default, Sentry's client collects messages, requests and local variables. Here, its integrations are off, and it
only sends events built by `event_of` from permitted data.
"""

import logging
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from traceback import walk_tb
from typing import Any

from foundation.database.outages import database_away
from foundation.errors import code_of, type_of
from foundation.monitoring.log_context import JOB, REQUEST

ROOT = Path(__file__).resolve().parents[3]
# Suspicious requests are not errors of this server; errors of the senders themselves would be sent endlessly.
_LEFT_OUT = ("django.security", "sentry_sdk", "opentelemetry", "urllib3")
_SENT = (
    "sent_to_sentry"  # marks sent errors, because several loggers may log the same one, such as those of jobs
)
_SECONDS_TO_END = 2
_SECONDS_BETWEEN_OUTAGES = 60.0  # during an outage, every request fails
_LIBRARY = re.compile(r".*/(?:site-packages|python3\.\d+)/")

Event = dict[str, Any]


class SentryHandler(logging.Handler):
    """Sends error records in the background; does nothing if sentry-sdk is not installed."""

    def __init__(self, dsn: str, environment: str) -> None:
        super().__init__(logging.ERROR)
        self._client = _client(dsn, environment)
        self._outage_sent_at = -_SECONDS_BETWEEN_OUTAGES

    def filter(self, record: logging.LogRecord) -> bool:
        if self._client is None or record.name.startswith(_LEFT_OUT):
            return False
        error = record.exc_info[1] if record.exc_info else None
        if getattr(error, _SENT, False):
            return False
        if database_away(error):
            if time.monotonic() - self._outage_sent_at < _SECONDS_BETWEEN_OUTAGES:
                return False
            self._outage_sent_at = time.monotonic()
        return super().filter(record)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._client.capture_event(event_of(record))
            if record.exc_info and record.exc_info[1]:
                setattr(record.exc_info[1], _SENT, True)
        except Exception:  # as in every handler, logging must not fail the request
            self.handleError(record)

    def close(self) -> None:
        """Send waiting events at the end of the process."""
        if self._client is not None:
            self._client.close(timeout=_SECONDS_TO_END)
        super().close()


def _client(dsn: str, environment: str) -> Any:
    try:
        import sentry_sdk
    except ImportError:
        return None
    return sentry_sdk.Client(
        dsn,
        environment=environment,
        default_integrations=False,
        auto_enabling_integrations=False,
        auto_session_tracking=False,
        send_client_reports=False,
        include_local_variables=False,
        include_source_context=False,
        attach_stacktrace=False,
        max_breadcrumbs=0,
        shutdown_timeout=_SECONDS_TO_END,
    )


def event_of(record: logging.LogRecord) -> Event:
    """Return the permitted data of a log record: no message, argument, value, address or name of a person."""
    place = f"{_file(record.pathname)}:{record.lineno}"
    event: Event = {
        "timestamp": datetime.fromtimestamp(record.created, UTC),
        "platform": "python",
        "level": record.levelname.lower(),
        "logger": record.name,
        "tags": {**_tags(record), "logged_at": place},
    }
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        event["message"] = f"{record.name} at {place}"
    else:
        event["exception"] = {"values": [_exception(link) for link in reversed(list(_chain(error)))]}
    return event


def _tags(record: logging.LogRecord) -> dict[str, str]:
    request = getattr(record, "request", None)
    match = getattr(request, "resolver_match", None)
    tags = {
        "method": getattr(request, "method", None) if match else None,
        "route": match.route if match else None,
        "job_kind": getattr(record, "job_kind", None),
        "request": REQUEST.get(),
        "job": JOB.get(),
    }
    return {name: value for name, value in tags.items() if value}


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes, each only once."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _exception(error: BaseException) -> Event:
    frames = [
        {
            "filename": _file(frame.f_code.co_filename),
            "function": frame.f_code.co_qualname,
            "lineno": line_number,
            "in_app": Path(frame.f_code.co_filename).is_relative_to(ROOT)
            and not _LIBRARY.match(frame.f_code.co_filename),
        }
        for frame, line_number in walk_tb(error.__traceback__)
    ]
    return {"type": type_of(error), "value": code_of(error), "stacktrace": {"frames": frames}}


def _file(path: str) -> str:
    """Return the path of a file relative to the project or the library folder."""
    if _LIBRARY.match(path):
        return _LIBRARY.sub("", path)
    return str(Path(path).relative_to(ROOT)) if Path(path).is_relative_to(ROOT) else Path(path).name
