"""Sentry and OpenTelemetry are off unless configured, and a server works without their packages."""

import pytest

from tests.foundation.database.own_database import own_server, platform_on

SENDERS = {
    "SENTRY_DSN": "http://key@127.0.0.1:9/1",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
}
# Python runs it at start, so that the packages seem not to be installed.
WITHOUT = """
from importlib.machinery import PathFinder
find = PathFinder.find_spec
def find_others(cls, name, path=None, target=None):
    return None if name.partition(".")[0] in {"sentry_sdk", "opentelemetry"} else find(name, path, target)
PathFinder.find_spec = classmethod(find_others)
"""
REQUEST = """
import logging, sys
from django.test import Client
status = Client().get("/healthz", headers={"host": "127.0.0.1"}).status_code
logging.getLogger("jobs").error("nothing to send")
loaded = sorted({name.partition(".")[0] for name in sys.modules} & {"sentry_sdk", "opentelemetry"})
answer = [status, loaded]
"""


def test_nothing_is_imported_unless_it_is_asked_for(tmp_path):
    with own_server(tmp_path) as server:
        assert server.ask(REQUEST) == [200, []]


def test_packages_that_are_missing_are_named_by_check_and_stop_nothing(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(WITHOUT)
    with own_server(tmp_path, PYTHONPATH=str(tmp_path), **SENDERS) as server:
        warnings = server.run("check").stderr
        assert warnings.count("stereoscope.W030") == 2
        for name in SENDERS:
            assert f"{name} is set, but the packages that it needs are not installed" in warnings
        assert server.ask(REQUEST) == [200, []]


@pytest.mark.database_free
@pytest.mark.parametrize("name", SENDERS)
def test_an_address_that_is_none_is_refused_without_being_repeated(tmp_path, name):
    server = platform_on(f"sqlite:///{tmp_path / 'none'}", tmp_path, **{name: "collector:4318/secret"})
    refused = server.run("check", check=False).stderr
    assert f"{name} must be an address" in refused
    assert "4318" not in refused
