"""System checks for settings of signing in that contradict each other or leave a public server open."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning

from accounts.sign_in import second_factor
from accounts.sign_in.providers.saml import provider as saml
from accounts.sign_in.providers.saml.errors import MetadataError
from web.checks import LOOPBACK


def check_second_factor(
    app_configs: Sequence[AppConfig] | None,  # noqa: ARG001
    **kwargs: Any,  # noqa: ARG001
) -> list[CheckMessage]:
    """Refuse unknown groups; warn if administrators and leads of a public server need only a password."""
    needed = set(settings.SECOND_FACTOR_FOR)
    if unknown := sorted(needed - set(second_factor.GROUPS)):
        return [
            Error(
                f"SECOND_FACTOR_FOR names {', '.join(unknown)}, which is not a group of people.",
                hint=f"Choose from {', '.join(second_factor.GROUPS)}.",
                id="stereoscope.E020",
            )
        ]
    open_groups = sorted({second_factor.ADMINISTRATORS, second_factor.LEADS} - needed)
    public = sorted(set(settings.ALLOWED_HOSTS) - LOOPBACK)
    if public and open_groups:
        return [
            Warning(
                f"A password alone signs in {' and '.join(open_groups)} at {', '.join(public)}.",
                hint="Set SECOND_FACTOR_FOR=administrators,leads.",
                id="stereoscope.W020",
            )
        ]
    return []


def check_identity_provider(
    app_configs: Sequence[AppConfig] | None,  # noqa: ARG001
    **kwargs: Any,  # noqa: ARG001
) -> list[CheckMessage]:
    """Refuse an insecure or incomplete provider; warn if the settings admit everybody or nobody."""
    if not settings.OIDC_ISSUER and not settings.SAML_METADATA_FILE:
        return []
    return [
        *(_openid_errors() if settings.OIDC_ISSUER else []),
        *(_saml_errors() if settings.SAML_METADATA_FILE else []),
        *_warnings_of_who_gets_in(),
    ]


def _openid_errors() -> list[CheckMessage]:
    messages: list[CheckMessage] = []
    issuer = urlsplit(settings.OIDC_ISSUER)
    if issuer.scheme != "https" and issuer.hostname not in LOOPBACK:
        messages.append(
            Error(
                f"OIDC_ISSUER={settings.OIDC_ISSUER} is not encrypted. Anybody who can read the traffic "
                f"could sign in as any user.",
                hint="Use the provider’s https address.",
                id="stereoscope.E021",
            )
        )
    if not settings.OIDC_CLIENT_ID or not settings.OIDC_CLIENT_SECRET:
        messages.append(
            Error(
                "OIDC_ISSUER is set, but OIDC_CLIENT_ID or OIDC_CLIENT_SECRET is not.",
                hint="Register this server at the provider and set both settings.",
                id="stereoscope.E022",
            )
        )
    return messages


def _saml_errors() -> list[CheckMessage]:
    if not saml.is_installed():
        return [
            Error(
                "SAML_METADATA_FILE is set, but the packages that SAML needs are not installed.",
                hint="Run pip install -r requirements/saml.txt.",
                id="stereoscope.E023",
            )
        ]
    from accounts.sign_in.providers.saml.metadata import identity_provider

    messages: list[CheckMessage] = []
    try:
        identity_provider(settings.SAML_METADATA_FILE, settings.SAML_IDP)
    except MetadataError as error:
        hint = "Download the provider’s metadata again, and see “SAML” in docs/operate/sign-in.md."
        messages.append(Error(str(error), hint=hint, id="stereoscope.E024"))
    site = urlsplit(settings.SITE_URL)
    if site.scheme != "https" and site.hostname not in LOOPBACK:
        messages.append(
            Error(
                "SAML_METADATA_FILE is set, but SITE_URL is not an https address.",
                hint="Set SITE_URL to the address under which people reach this server. The provider sends its answers "
                "to this address, and browsers send the cookie of a sign-in only over https.",
                id="stereoscope.E025",
            )
        )
    return messages


def _warnings_of_who_gets_in() -> list[CheckMessage]:
    messages: list[CheckMessage] = []
    if settings.SSO_REQUIRE_GROUP and not settings.SSO_GROUPS:
        messages.append(
            Warning(
                "Nobody can sign in through the provider, because SSO_REQUIRE_GROUP is set and SSO_GROUPS names no "
                "group.",
                hint="Set SSO_GROUPS, or SSO_REQUIRE_GROUP=no if administrators give roles by hand.",
                id="stereoscope.W021",
            )
        )
    if settings.SSO_NEW_ACCOUNTS and not settings.SSO_REQUIRE_GROUP:
        messages.append(
            Warning(
                "Everybody known to the provider gets an account, because SSO_NEW_ACCOUNTS is set and no group is "
                "required.",
                hint="Set SSO_GROUPS and SSO_REQUIRE_GROUP=yes, unless you want everybody to get an account.",
                id="stereoscope.W022",
            )
        )
    return messages
