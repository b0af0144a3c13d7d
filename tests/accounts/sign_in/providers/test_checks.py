"""Dangerous settings of identity providers are named when the server starts."""

import pytest

from accounts.sign_in.checks import check_identity_provider


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"OIDC_ISSUER": ""}, []),
        ({"OIDC_ISSUER": "http://login.example.org"}, ["stereoscope.E021"]),
        ({"OIDC_ISSUER": "http://127.0.0.1:9000/o"}, []),
        ({"OIDC_CLIENT_SECRET": ""}, ["stereoscope.E022"]),
        ({"SSO_GROUPS": []}, ["stereoscope.W021"]),
        ({"SSO_NEW_ACCOUNTS": True}, []),
        ({"SSO_NEW_ACCOUNTS": True, "SSO_REQUIRE_GROUP": False}, ["stereoscope.W022"]),
    ],
)
def test_dangerous_settings_are_named(settings, changes, expected):
    settings.OIDC_ISSUER = "https://login.example.org"
    settings.OIDC_CLIENT_ID = settings.OIDC_CLIENT_SECRET = "something"
    settings.SSO_NEW_ACCOUNTS, settings.SSO_REQUIRE_GROUP = False, True
    settings.SSO_GROUPS = [("lead", "heads")]
    for name, value in changes.items():
        setattr(settings, name, value)
    assert [message.id for message in check_identity_provider(None)] == expected
