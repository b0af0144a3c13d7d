"""Recognition of the browser in which a person signed in, by our own cookie.

A signed cookie contains a random number for the browser and the users who have signed in with it. Two rules
use it: wrong passwords typed elsewhere do not lock a person out of their own browser, and two annotators who
join from one browser are suspected to be one person. Only keyed hashes of it are stored.
"""

import ipaddress
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.contrib.auth.signals import user_logged_in
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac

from accounts.models import User

COOKIE = "stereoscope_device"
LIFETIME = timedelta(days=365)
MAX_USERS = 8  # of one browser, such as that of a reading room; the latest are kept
_SALT = "accounts.devices"


@dataclass(frozen=True)
class Device:
    """A browser: its number, and keyed hashes of the names of users who signed in with it."""

    number: str
    users: tuple[str, ...] = ()


def device_of(request: HttpRequest) -> Device:
    """Return the browser of a request; a browser without our cookie is new and will get one."""
    device: Device | None = getattr(request, "_device", None)
    if device is None:
        device = _read(request)
        if device is None:
            device = Device(secrets.token_hex(16))
            _keep(request, device)
        request._device = device  # type: ignore[attr-defined]
    return device


def client_address(request: HttpRequest) -> str | None:
    """Return the key for counting wrong passwords: the browser if that user has signed in with it, else the address.

    A browser is represented by an address of a private network (RFC 4193), because the table stores
    addresses.
    """
    device = _read(request)
    if device is not None and _user_hash(request.POST.get("username", "")) in device.users:
        digest = salted_hmac(f"{_SALT}.address", device.number, algorithm="sha256").digest()
        return str(ipaddress.IPv6Address(b"\xfd" + digest[:15]))
    return request.META.get("REMOTE_ADDR")


class DeviceMiddleware:
    """Send the cookie to a new browser, and to a browser in which a person signed in."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        device: Device | None = getattr(request, "_device_to_keep", None)
        if device is not None:
            response.set_cookie(
                COOKIE,
                signing.dumps([device.number, *device.users], salt=_SALT),
                max_age=LIFETIME,
                httponly=True,
                samesite="Lax",
                secure=request.is_secure(),
            )
        return response


def remember_user(*, request: HttpRequest, user: User) -> None:
    """Add a user who has just signed in to the users of their browser."""
    device = device_of(request)
    others = tuple(name for name in device.users if name != _user_hash(user.get_username()))
    device = replace(device, users=(*others, _user_hash(user.get_username()))[-MAX_USERS:])
    request._device = device  # type: ignore[attr-defined]
    _keep(request, device)


def _on_sign_in(sender: Any, request: HttpRequest | None, user: Any, **_: Any) -> None:  # noqa: ARG001
    if request is not None:
        remember_user(request=request, user=user)


def _read(request: HttpRequest) -> Device | None:
    try:
        number, *users = signing.loads(request.COOKIES.get(COOKIE, ""), salt=_SALT, max_age=LIFETIME)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    return Device(number, tuple(users))


def _keep(request: HttpRequest, device: Device) -> None:
    request._device_to_keep = device  # type: ignore[attr-defined]


def _user_hash(name: str) -> str:
    return salted_hmac(f"{_SALT}.user", name.casefold(), algorithm="sha256").hexdigest()[:16]


user_logged_in.connect(_on_sign_in, dispatch_uid="accounts.devices")
