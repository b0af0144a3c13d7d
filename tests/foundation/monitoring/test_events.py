"""The parts of an error that may be sent: types, codes and lines of code."""

import logging
import sys

import pytest
from psycopg.errors import UniqueViolation

from foundation.errors import Conflict, DomainError, code_of, type_of
from foundation.monitoring.sentry import SentryHandler, event_of

pytestmark = pytest.mark.database_free


def record_of(error):
    try:
        raise error
    except BaseException:
        return logging.LogRecord("jobs", logging.ERROR, __file__, 1, "of %s", ("Ada",), sys.exc_info())


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Conflict("job_not_free", "The job of Ada is running."), "job_not_free"),
        (DomainError("Ada lives here", "A code that is none."), ""),
        (FileNotFoundError(2, "No such file", "/home/ada"), "ENOENT"),
        (OSError("of Ada"), ""),
        (UniqueViolation("Key (email)=(ada@example.org) already exists."), "23505"),
        (ValueError("Ada"), ""),
    ],
    ids=lambda part: type(part).__name__,
)
def test_an_error_tells_its_code_and_never_its_message(error, code):
    assert code_of(error) == code
    (link,) = event_of(record_of(error))["exception"]["values"]
    assert (link["type"], link["value"]) == (type_of(error), code)
    assert "Ada" not in repr(event_of(record_of(error)))


def test_causes_come_first_and_circles_end():
    inner, outer = KeyError("Ada"), RuntimeError("Bo")
    outer.__cause__, inner.__cause__ = inner, outer
    links = event_of(record_of(outer))["exception"]["values"]
    assert [link["type"] for link in links] == ["KeyError", "RuntimeError"]


def test_an_error_without_an_exception_tells_the_line_that_logged_it():
    record = logging.LogRecord("jobs.run", logging.ERROR, __file__, 7, "of Ada", (), None)
    event = event_of(record)
    assert event["message"] == "jobs.run at tests/foundation/monitoring/test_events.py:7"
    assert "Ada" not in repr(event)


def test_an_error_that_two_loggers_write_down_is_sent_once():
    pytest.importorskip("sentry_sdk", reason="sentry-sdk is not installed: requirements/observability.txt")
    handler = SentryHandler("http://key@127.0.0.1:9/1", "tests")
    record = record_of(ValueError("Ada"))
    assert handler.filter(record)
    handler.emit(record)
    assert not handler.filter(record)
    handler.close()
