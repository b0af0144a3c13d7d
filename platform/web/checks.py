"""Checks of settings that are harmless on a personal machine but dangerous on a server."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning

from foundation.monitoring import tracing

LOOPBACK = {"127.0.0.1", "localhost", "[::1]", "testserver"}


def check_files(
    app_configs: Sequence[AppConfig] | None,  # noqa: ARG001
    **kwargs: Any,  # noqa: ARG001
) -> list[CheckMessage]:
    """Refuse incomplete settings of object storage, with which files would silently go to a local folder."""
    messages: list[CheckMessage] = []
    if settings.FILES_ENDPOINT_URL and not settings.FILES_BUCKET:
        messages.append(
            Error(
                "FILES_ENDPOINT_URL names a file storage, but FILES_BUCKET does not name a bucket.",
                hint="Set FILES_BUCKET: without this setting, files are stored on this machine.",
                id="stereoscope.E004",
            )
        )
    if bool(settings.FILES_ACCESS_KEY) != bool(settings.FILES_SECRET_KEY):
        messages.append(
            Error(
                "Only one of FILES_ACCESS_KEY and FILES_SECRET_KEY is set.",
                hint="Set both FILES_ACCESS_KEY and FILES_SECRET_KEY, or neither to use the machine's own role.",
                id="stereoscope.E005",
            )
        )
    return messages


def check_monitoring(
    app_configs: Sequence[AppConfig] | None,  # noqa: ARG001
    **kwargs: Any,  # noqa: ARG001
) -> list[CheckMessage]:
    """Warn if the packages that send errors or spans are not installed."""
    senders = {
        "SENTRY_DSN": (settings.SENTRY_DSN, find_spec("sentry_sdk") is not None, "no error"),
        "OTEL_EXPORTER_OTLP_ENDPOINT": (
            settings.OTEL_EXPORTER_OTLP_ENDPOINT,
            tracing.configured(),
            "no span",
        ),
    }
    return [
        Warning(
            f"{name} is set, but the packages that it needs are not installed: {missing} is reported.",
            hint="Run pip install -r requirements/observability.txt.",
            id="stereoscope.W030",
        )
        for name, (value, installed, missing) in senders.items()
        if value and not installed
    ]


def check_server_settings(
    app_configs: Sequence[AppConfig] | None,  # noqa: ARG001
    **kwargs: Any,  # noqa: ARG001
) -> list[CheckMessage]:
    """Refuse demo accounts and debug pages on a public host; warn about unencrypted sign-ins."""
    public = sorted(set(settings.ALLOWED_HOSTS) - LOOPBACK)
    if not public:
        return []
    hosts = ", ".join(public)
    messages: list[CheckMessage] = []
    if settings.DEMO:
        messages.append(
            Error(
                f"The demo's accounts have published passwords, and ALLOWED_HOSTS allows {hosts}.",
                hint="Unset STEREOSCOPE_DEMO, or allow only this machine in ALLOWED_HOSTS.",
                id="stereoscope.E001",
            )
        )
    if settings.DEBUG:
        messages.append(
            Error(
                f"DEBUG shows settings and data of people on error pages, and ALLOWED_HOSTS allows {hosts}.",
                hint="Unset DEBUG.",
                id="stereoscope.E002",
            )
        )
    if not settings.HTTPS:
        messages.append(
            Warning(
                f"Passwords and labels travel unencrypted to {hosts}.",
                hint="Put a TLS proxy in front of the server and set HTTPS=1.",
                id="stereoscope.W001",
            )
        )
    if settings.TRUSTED_PROXIES is None:
        messages.append(
            Warning(
                f"TRUSTED_PROXIES does not name the proxies in front of {hosts}.",
                hint="Without this setting, all visitors behind a proxy share one address, and wrong "
                "passwords by one visitor lock a user name for everybody. Set TRUSTED_PROXIES to the "
                "proxies' networks, such as 10.0.0.0/8, or to none if there is no proxy.",
                id="stereoscope.W002",
            )
        )
    return messages
