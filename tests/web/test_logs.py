"""Log lines name their request or job, as text and as JSON; ids from strangers are ignored."""

import json
import logging
from io import BytesIO
from ipaddress import ip_network

import pytest
from django.conf import settings as configured
from django.http import FileResponse, HttpResponse
from django.test import RequestFactory

from foundation.monitoring.log_context import JOB, ContextFilter, JsonFormatter, context_of
from web.middleware import HeadMiddleware, RequestIdMiddleware, TrustedProxyMiddleware


def formatted(formatter, message="it happened", **more):
    record = logging.LogRecord("jobs.run", logging.WARNING, __file__, 1, message, (), more.get("exc_info"))
    ContextFilter().filter(record)
    return formatter.format(record)


@pytest.fixture
def line():
    format = configured.LOGGING["formatters"]["line"]
    return logging.Formatter(format["format"], style=format["style"])


def asked(settings, **headers):
    """Return the response to a request, and the view's log entry from its JSON."""
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8")]
    lines = []

    def view(request):
        lines.append(json.loads(formatted(JsonFormatter())))
        return HttpResponse()

    answer = TrustedProxyMiddleware(RequestIdMiddleware(view))(RequestFactory().get("/", **headers))
    return answer, lines[0]


def test_the_id_of_a_request_is_in_its_log_and_in_its_answer(settings):
    answer, logged = asked(settings)
    assert len(answer["X-Request-ID"]) == 16
    assert logged["request"] == answer["X-Request-ID"]
    assert asked(settings)[0]["X-Request-ID"] != answer["X-Request-ID"]


def test_a_trusted_proxy_sets_the_request_id(settings):
    answer, logged = asked(settings, REMOTE_ADDR="10.0.0.9", HTTP_X_REQUEST_ID="a1b2c3d4e5f6")
    assert logged["request"] == answer["X-Request-ID"] == "a1b2c3d4e5f6"


@pytest.mark.parametrize(
    ("peer", "sent"),
    [
        ("198.51.100.7", "a1b2c3d4e5f6"),
        ("10.0.0.9", "short"),
        ("10.0.0.9", "two\nlines here"),
        ("10.0.0.9", "x" * 65),
    ],
)
def test_ids_from_strangers_and_malformed_ids_are_ignored(settings, peer, sent):
    assert asked(settings, REMOTE_ADDR=peer, HTTP_X_REQUEST_ID=sent)[1]["request"] != sent


def test_log_lines_name_their_job(line):
    with context_of(JOB, "17"):
        assert formatted(line).endswith("WARNING jobs.run [job 17] it happened")
        assert json.loads(formatted(JsonFormatter()))["job"] == "17"
    assert formatted(line).endswith("WARNING jobs.run it happened")


def test_json_stays_on_one_line_with_its_exception():
    try:
        raise ValueError("two\nlines")
    except ValueError as error:
        text = formatted(JsonFormatter(), exc_info=(ValueError, error, error.__traceback__))
    assert "\n" not in text
    assert "ValueError" in json.loads(text)["exception"]


def test_a_file_asked_for_by_head_is_not_sent():
    view = HeadMiddleware(lambda _request: FileResponse(BytesIO(b"a picture")))
    assert b"".join(view(RequestFactory().get("/")).streaming_content) == b"a picture"
    assert b"".join(view(RequestFactory().head("/")).streaming_content) == b""
