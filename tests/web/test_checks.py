"""Settings that are dangerous on a server are named when it starts."""

import pytest

from web.checks import check_server_settings


def ids(**changes):
    return [message.id for message in check_server_settings(None)]


@pytest.fixture
def public(settings):
    settings.ALLOWED_HOSTS = ["labels.example.org"]
    settings.HTTPS = True
    return settings


def test_a_machine_of_ones_own_may_do_as_it_likes(settings):
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
    ],
)
def test_what_is_dangerous_on_a_public_server_is_named(public, name, value, expected):
    setattr(public, name, value)
    assert ids() == [expected]
