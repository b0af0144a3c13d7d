"""Errors and spans are sent without any content, and an unavailable collector does not affect people's requests."""

import http.client
import json
import socket
import time
import uuid
from contextlib import closing, contextmanager

import pytest

from tests.foundation.database.own_database import own_server
from tests.foundation.monitoring.collector import attributes_of, collector
from tests.foundation.monitoring.marked_campaign import MARKS, VISITOR
from tests.services.annotators import wait_until, web_server

pytest.importorskip("sentry_sdk", reason="sentry-sdk is not installed: requirements/observability.txt")
pytest.importorskip(
    "opentelemetry.sdk", reason="OpenTelemetry is not installed: requirements/observability.txt"
)
pytestmark = [pytest.mark.services, pytest.mark.slow]
BOX = "31415926"  # digits of a box that an annotator drew
MAIL = {"EMAIL_HOST": "127.0.0.1", "EMAIL_PORT": "9", "SITE_URL": "https://labels.example.org"}
FILL = "from tests.foundation.monitoring.marked_campaign import fill\nanswer = fill()"
SUBMIT = "api/v1/assignments/<uuid:public_id>/submit"
# All permitted attributes of spans and errors.
SPAN_ATTRIBUTES = {
    *("http.request.method", "http.route", "http.response.status_code", "error.type", "error.code"),
    *("db.queries", "db.seconds", "stereoscope.request", "stereoscope.job", "stereoscope.job.kind"),
    *("stereoscope.job.queue", "stereoscope.job.attempt", "stereoscope.job.state"),
}
EVENT_FIELDS = {
    *("timestamp", "platform", "level", "logger", "tags", "exception", "message", "event_id"),
    *("environment", "release", "server_name", "sdk"),
}
TAGS = {"method", "route", "job_kind", "request", "job", "logged_at"}


class Visitor:
    """A visitor whose requests all contain marks, and come through a proxy."""

    def __init__(self, port, key):
        self.port, self.key = port, key

    def send(self, method, path, body=None, *, key=None):
        """Return the status and the content of the response."""
        headers = {
            "Authorization": f"Bearer {key or self.key}",
            "Content-Type": "application/json",
            "Cookie": f"stereoscope_session={MARKS['cookie']}; other={MARKS['cookie']}",
            "Referer": f"http://127.0.0.1/{MARKS['header']}",
            "User-Agent": MARKS["header"],
            "X-Forwarded-For": VISITOR,
            "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "baggage": f"user={MARKS['header']}",
        }
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            sent = json.dumps(body) if body is not None else None
            connection.request(method, f"{path}?about={MARKS['query']}", sent, headers)
            response = connection.getresponse()
            content = response.read()
            return response.status, json.loads(content) if b"{" in content[:1] else {}


def provoke(visitor, campaign):
    """Submit until the database fails, cause refusals, and open an invalid link; return the statuses."""
    _, task = visitor.send("POST", f"/api/v1/campaigns/{campaign}/next", {})
    submit = f"/api/v1/assignments/{task['assignment']}/submit"
    refs = [attribute["ref"] for attribute in task["attributes"]]
    answer = {"submission_id": str(uuid.uuid4()), "active_seconds": 0.1}
    ticked = {"ticked": refs[:1], "boxes": [], "none_of_the_above": False}
    box = {"attribute": refs[0], "x": 0.1, "y": 0.2, "width": float(f"0.{BOX}"), "height": 0.4}
    return [
        visitor.send("POST", submit, answer | {"answer": ticked | {"boxes": [box]}})[0],
        visitor.send("POST", submit, answer | {"answer": ticked | {"ticked": [MARKS["answer"]]}})[0],
        visitor.send("POST", submit, answer, key=MARKS["api key"])[0],
        visitor.send("GET", f"/annotate/i/{MARKS['path token']}/")[0],
    ]


def statuses_of(kept, *, route):
    """Return the statuses of the spans of one route that a collector received."""
    said = [attributes_of(span) for span in kept.spans()]
    return {each["http.response.status_code"] for each in said if each.get("http.route") == route}


@pytest.fixture(scope="module")
def sent(tmp_path_factory):
    """Return the requests that a collector received while annotators and a worker met errors, and ids in responses."""
    tmp_path = tmp_path_factory.mktemp("monitored")
    with (
        collector(tmp_path / "collected") as kept,
        own_server(tmp_path, TRUSTED_PROXIES="127.0.0.1/32", **MAIL, **kept.settings) as server,
    ):
        made = server.ask(FILL)
        with web_server(server, tmp_path) as web:
            statuses = provoke(Visitor(web.port, made["keys"][0]), made["campaign"])
            server.run("worker", "--batch")
            # Each process sends its spans in separate, consecutive batches.
            wait_until(lambda: {500, 400, 401} <= statuses_of(kept, route=SUBMIT))
            wait_until(lambda: 404 in statuses_of(kept, route="annotate/i/<str:token>/"))
            wait_until(lambda: any(span.name == "job annotation.send_letters" for span in kept.spans()))
            wait_until(lambda: len(kept.errors()) >= 2)
        yield kept, statuses, made["keys"][0]


def test_errors_and_spans_hold_nothing_of_people_and_studies(sent):
    kept, statuses, key = sent
    assert statuses == [500, 400, 401, 404]
    received = kept.received()
    assert len(received) > 3000
    everything = {**MARKS, "box": BOX, "visitor": VISITOR, "key": key, "host": "labels.example.org"}
    assert [place for place, mark in everything.items() if mark.encode() in received] == []
    assert b"0af7651916cd43dd8448eb211c80319c" not in received
    for event in kept.errors():
        assert event.keys() <= EVENT_FIELDS
        assert event["tags"].keys() <= TAGS
        for link in event["exception"]["values"]:
            assert link.keys() == {"type", "value", "stacktrace"}
            assert all(
                frame.keys() == {"filename", "function", "lineno", "in_app"}
                for frame in link["stacktrace"]["frames"]
            )
    for span in kept.spans():
        assert attributes_of(span).keys() <= SPAN_ATTRIBUTES
        assert (span.events[:], span.links[:], span.status.message) == ([], [], "")


def test_an_error_says_where_it_happened(sent):
    of_web, of_worker = sent[0].errors()
    assert (of_web["tags"]["method"], of_web["tags"]["route"]) == ("POST", SUBMIT)
    assert of_worker["tags"]["job_kind"] == "annotation.send_letters"
    for event, file in ((of_web, "annotation/"), (of_worker, "annotation/people/letter_delivery.py")):
        error = event["exception"]["values"][-1]
        assert error["type"].startswith("django.db.utils.")
        ours = [frame for frame in error["stacktrace"]["frames"] if frame["in_app"]]
        assert any(frame["filename"].startswith(file) and frame["lineno"] for frame in ours)
        assert not any(frame["filename"].startswith("/") for frame in error["stacktrace"]["frames"])


def test_a_span_says_of_which_route_or_job_it_is_and_how_it_ended(sent):
    spans = [(span, attributes_of(span)) for span in sent[0].spans()]
    submitted = {
        said["http.response.status_code"]: (span, said)
        for span, said in spans
        if said.get("http.route") == SUBMIT
    }
    span, said = submitted[500]
    assert span.name == f"POST {SUBMIT}"
    assert said["error.type"].startswith("django.db.utils.")
    assert said["db.queries"] > 2
    assert 0 < said["db.seconds"] < (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9
    assert span.status.code == span.status.STATUS_CODE_ERROR
    refused, said = submitted[400]
    assert (said["error.type"], said["error.code"]) == ("foundation.errors.DomainError", "answer_invalid")
    assert refused.status.code == refused.status.STATUS_CODE_UNSET
    (job,) = [(span, said) for span, said in spans if span.name == "job annotation.send_letters"]
    assert job[1]["stereoscope.job.kind"] == "annotation.send_letters"
    assert job[1]["stereoscope.job.state"] == "failed"
    assert job[0].status.code == job[0].status.STATUS_CODE_ERROR


@contextmanager
def away(how):
    """Return the port of a collector that is closed, or that accepts connections and never responds."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        if how == "silent":
            listener.listen(64)
        yield listener.getsockname()[1]


@pytest.mark.parametrize("how", ["closed", "silent"])
def test_requests_and_workers_do_not_wait_for_a_collector_that_is_away(tmp_path, how):
    with away(how) as port:
        targets = {
            "SENTRY_DSN": f"http://key@127.0.0.1:{port}/1",
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
        }
        with own_server(tmp_path, **MAIL, **targets) as server:
            made = server.ask(FILL)
            with web_server(server, tmp_path) as web:
                visitor = Visitor(web.port, made["keys"][0])
                provoke(visitor, made["campaign"])  # warm up every process
                began = time.monotonic()
                for _ in range(20):
                    assert provoke(visitor, made["campaign"]) == [500, 400, 401, 404]
                # A hundred requests, forty of which cause or return errors; each would wait for seconds.
                assert time.monotonic() - began < 90
            began = time.monotonic()
            server.run("worker", "--batch")
            assert time.monotonic() - began < 90
