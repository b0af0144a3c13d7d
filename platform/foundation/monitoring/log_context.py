"""The request or job of each log line, as text or as JSON."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

REQUEST: ContextVar[str] = ContextVar("request", default="")
JOB: ContextVar[str] = ContextVar("job", default="")


@contextmanager
def context_of(variable: ContextVar[str], value: str) -> Iterator[None]:
    """Set the request or job of log lines during the block."""
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


class ContextFilter(logging.Filter):
    """Adds `request_id`, `job_id` and `context`, which is both as text, to records."""

    def filter(self, record: logging.LogRecord) -> bool:
        ids = {"request": REQUEST.get(), "job": JOB.get()}
        record.request_id, record.job_id = ids["request"], ids["job"]
        record.context = "".join(f"[{name} {value}] " for name, value in ids.items() if value)
        return True


class JsonFormatter(logging.Formatter):
    """Formats a record as a JSON object: at (UTC), level, logger, message and, if any, request, job, exception."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "request": getattr(record, "request_id", ""),
            "job": getattr(record, "job_id", ""),
            "exception": self.formatException(record.exc_info) if record.exc_info else "",
        }
        return json.dumps({name: value for name, value in line.items() if value}, ensure_ascii=False)
