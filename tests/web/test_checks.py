"""Settings that are dangerous on a server are named when it starts."""

import pytest

from jobs.engine.celery_backend import CeleryBackend
from web.checks import check_files, check_server_settings


def ids(**changes):
    return [message.id for message in check_server_settings(None)]


@pytest.fixture
def public(settings):
    settings.ALLOWED_HOSTS = ["labels.example.org"]
    settings.HTTPS = True
    settings.TRUSTED_PROXIES = []
    return settings


def test_a_local_machine_may_use_any_settings(settings):
    settings.ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
    settings.DEMO = settings.DEBUG = True
    assert ids() == []


def test_a_public_server_with_tls_is_fine(public):
    assert ids() == []


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("DEMO", True, "stereoscope.E001"),
        ("DEBUG", True, "stereoscope.E002"),
        ("HTTPS", False, "stereoscope.W001"),
        ("TRUSTED_PROXIES", None, "stereoscope.W002"),
    ],
)
def test_dangerous_settings_of_a_public_server_are_named(public, name, value, expected):
    setattr(public, name, value)
    assert ids() == [expected]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({}, []),
        ({"FILES_BUCKET": "files"}, []),
        ({"FILES_ENDPOINT_URL": "http://storage"}, ["stereoscope.E004"]),
        ({"FILES_BUCKET": "files", "FILES_ACCESS_KEY": "key"}, ["stereoscope.E005"]),
        ({"FILES_BUCKET": "files", "FILES_ACCESS_KEY": "key", "FILES_SECRET_KEY": "secret"}, []),
    ],
)
def test_half_a_configuration_of_object_storage_is_refused(settings, names, expected):
    for name in ("FILES_BUCKET", "FILES_ENDPOINT_URL", "FILES_ACCESS_KEY", "FILES_SECRET_KEY"):
        setattr(settings, name, names.get(name, ""))
    assert [message.id for message in check_files(None)] == expected


def test_celery_without_a_broker_is_refused(settings):
    settings.CELERY_BROKER_URL = ""
    backend = CeleryBackend("default", {"QUEUES": ["default"]})
    assert [message.id for message in backend.check()] == ["stereoscope.E003"]
    settings.CELERY_BROKER_URL = "redis://localhost:6379/0"
    assert backend.check() == []
