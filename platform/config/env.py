"""Typed reading of environment variables, with errors for invalid values.

`NAME_FILE` may name a file with the value of `NAME`, so that secrets need not be in the environment.
"""

import os
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off", ""}


def text(name: str, default: str | None = None) -> str:
    """Return the value of `name`, or the content of the file that `name_FILE` names."""
    file = os.environ.get(f"{name}_FILE")
    if file:
        try:
            return Path(file).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ImproperlyConfigured(f"{name}_FILE={file} cannot be read: {error.strerror}.") from error
    value = os.environ.get(name, default)
    if value is None:
        raise ImproperlyConfigured(f"Set the environment variable {name} (or {name}_FILE).")
    return value


def flag(name: str, default: bool) -> bool:
    """Return a Boolean setting, written as yes or no."""
    value = text(name, "1" if default else "0").lower()
    if value in _TRUE:
        return True
    if value in _FALSE:
        return False
    raise ImproperlyConfigured(f"{name}={value!r} must be yes or no.")


def integer(name: str, default: int, *, minimum: int = 0) -> int:
    """Return a whole number of at least `minimum`."""
    value = text(name, str(default))
    if not value.lstrip("-").isdigit() or int(value) < minimum:
        raise ImproperlyConfigured(f"{name}={value!r} is not a whole number of at least {minimum}.")
    return int(value)


def days(name: str) -> int | None:
    """Return a number of days, or None if it is not set."""
    return integer(name, 0) if text(name, "") else None


def words(name: str, default: str = "") -> list[str]:
    """Return a comma-separated list."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def rules(name: str, *, among: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return rules such as `lead=heads of labs; analyst=cn=statistics,ou=groups`, which semicolons separate."""
    pairs = []
    for rule in filter(None, (rule.strip() for rule in text(name, "").split(";"))):
        left, equals, right = (part.strip() for part in rule.partition("="))
        if left not in among or not equals or not right:
            raise ImproperlyConfigured(
                f"{name}: {rule!r} is not a rule. Write a rule such as {among[0]}=…, with one of "
                f"{', '.join(among)} on the left."
            )
        pairs.append((left, right))
    return pairs


def choice(name: str, default: str, *, among: tuple[str, ...]) -> str:
    """Return one of several words."""
    value = text(name, default)
    if value not in among:
        raise ImproperlyConfigured(f"{name}={value!r} is not one of {', '.join(among)}.")
    return value


def networks(name: str) -> list[IPv4Network | IPv6Network] | None:
    """Return a comma-separated list of networks such as 10.0.0.0/8; [] for "none", None if it is not set."""
    values = words(name)
    if not values:
        return None
    if values == ["none"]:
        return []
    try:
        return [ip_network(value) for value in values]
    except ValueError as error:
        raise ImproperlyConfigured(
            f"{name}: {error}. Write networks such as 10.0.0.0/8, or the word none."
        ) from error


def url(name: str) -> str:
    """Return an address that begins with http:// or https:// and names a host; "" if it is not set."""
    address = text(name, "")
    parts = urlsplit(address)
    if address and (parts.scheme not in {"http", "https"} or not parts.hostname):
        # Not repeated: it may contain a key.
        raise ImproperlyConfigured(f"{name} must be an address such as https://example.org.")
    return address


def syslog(name: str) -> dict[str, object]:
    """Return the log handler of a syslog: a socket (/dev/log) or host:port over UDP; none if it is not set."""
    address = text(name, "")
    if not address:
        return {"class": "logging.NullHandler"}
    host, _, port = address.rpartition(":")
    if not address.startswith("/") and not (host and port.isdigit()):
        raise ImproperlyConfigured(f"{name}={address!r} is neither a path such as /dev/log nor host:port.")
    place = address if address.startswith("/") else (host, int(port))
    return {
        "class": "logging.handlers.SysLogHandler",
        "address": place,
        "facility": "authpriv",
        "formatter": "syslog",
    }


def files(
    *, bucket: str, endpoint_url: str, access_key: str, secret_key: str, region: str, prefix: str
) -> dict[str, object]:
    """Return Django's settings of a storage: a bucket if one is named, else the local folder."""
    if not bucket:
        return {"BACKEND": "django.core.files.storage.FileSystemStorage"}
    from foundation.storage import client_settings

    return {
        "BACKEND": "foundation.storage.ObjectStorage",
        "OPTIONS": {
            "bucket_name": bucket,
            "endpoint_url": endpoint_url or None,
            # Without keys, the credentials of the machine's role are used.
            "access_key": access_key or None,
            "secret_key": secret_key or None,
            "region_name": region or None,
            "location": prefix,
            "file_overwrite": False,
            "default_acl": None,
            "client_config": client_settings(),
        },
    }


def database(url: str) -> dict[str, object]:
    """Return Django's database settings for `sqlite:///path` or `postgresql://user:password@host:port/name`."""
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        # sqlite:///relative/path and sqlite:////absolute/path, as in SQLAlchemy and dj-database-url.
        return {
            "ENGINE": "foundation.database.sqlite",
            "NAME": parts.path[1:] or ":memory:",
            # Closing the last connection copies the log into the file, which must not happen after each request.
            "CONN_MAX_AGE": 600,
            "OPTIONS": {
                # One writer at a time, queued at BEGIN: a deferred transaction would fail at its first write.
                "transaction_mode": "IMMEDIATE",
                "timeout": 30,
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-65536;",
            },
        }
    if parts.scheme in {"postgres", "postgresql"}:
        return {
            "ENGINE": "foundation.database.postgresql",
            "NAME": unquote(parts.path[1:]),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": parts.hostname or "",
            "PORT": str(parts.port or ""),
            "CONN_MAX_AGE": 600,
            "CONN_HEALTH_CHECKS": True,
            # Without a number, no statement is ever prepared, whatever `foundation.database.statements` requests.
            "OPTIONS": {"prepare_threshold": 5, **dict(parse_qsl(parts.query))},
        }
    raise ImproperlyConfigured(f"DATABASE_URL begins with {parts.scheme!r}; use sqlite:/// or postgresql://.")
