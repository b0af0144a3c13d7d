"""Signed addresses of images, which reveal nothing about the image.

An address contains a token: the image's random public id, its expiry, a hash of the viewer and the size, encrypted
and authenticated. Anyone with the token can see the image until it expires, without a session, so that external
labelling tools can show it. The encryption is the synthetic-IV construction (as in RFC 5297) with HMAC-SHA256 as
its only primitive: the IV is a MAC of the plaintext, so tokens cannot be altered, and equal contents give equal
addresses, which lets browsers cache images.
"""

import base64
import binascii
import hashlib
import hmac
import time
import uuid
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings
from django.urls import get_script_prefix, reverse

from foundation.errors import NotFound
from generation.models import Image

FULL = 0
SMALL = 1  # for contact sheets

_IV = 16
_PLAIN = 16 + 4 + 8 + 1  # public id, minute of expiry, viewer, size
_USE = "generation.serving"


@dataclass(frozen=True)
class ImageAddress:
    """The contents of a token."""

    public_id: uuid.UUID
    expires_at: int  # seconds since 1970
    size: int


def image_url(image: Image, *, viewer: str, size: int = FULL, now: float | None = None) -> str:
    """Return the address of the image for `viewer`, such as `user:5`, or "" if the image has no file.

    Addresses differ between viewers, so viewers cannot tell that they see the same image. All addresses made
    within one period expire together, so a viewer gets the same address on every page during the period.
    """
    if not image.file:
        return ""
    period = settings.IMAGE_URL_MINUTES
    minute = int((time.time() if now is None else now) // 60)
    expiry = (minute // period + 2) * period
    mark = hashlib.sha256(viewer.encode()).digest()[:8]
    plain = image.public_id.bytes + expiry.to_bytes(4, "big") + mark + bytes([size])
    return _address(get_script_prefix()).format(seal(plain))


@lru_cache(maxsize=16)
def _address(prefix: str) -> str:  # noqa: ARG001 -- what `reverse` puts in front
    return reverse("images:image", args=["token"]).replace("token", "{}")


def open_token(token: str, *, now: float | None = None) -> ImageAddress:
    """Return the contents of the token; raise NotFound if it is invalid or has expired."""
    plain = unseal(token, length=_PLAIN)
    if plain is None:
        raise NotFound("image_not_found", "There is no image at this address.")
    expires_at = int.from_bytes(plain[16:20], "big") * 60
    if (time.time() if now is None else now) >= expires_at:
        raise NotFound(
            "image_address_expired",
            "The address of this image has expired. Reload the page that showed the image.",
        )
    return ImageAddress(uuid.UUID(bytes=plain[:16]), expires_at, plain[28])


def seal(plain: bytes, *, use: str = _USE) -> str:
    """Return a token for at most 32 bytes that only `unseal` with the same `use` can read."""
    iv = _mac(use, "iv", plain)[:_IV]
    return base64.urlsafe_b64encode(iv + _mask(use, iv, plain)).rstrip(b"=").decode("ascii")


def unseal(token: str, *, length: int, use: str = _USE) -> bytes | None:
    """Return the `length` sealed bytes, or None for an invalid token."""
    try:
        sealed = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(sealed) != _IV + length:
        return None
    iv = sealed[:_IV]
    plain = _mask(use, iv, sealed[_IV:])
    return plain if hmac.compare_digest(_mac(use, "iv", plain)[:_IV], iv) else None


def _mask(use: str, iv: bytes, text: bytes) -> bytes:
    stream = _mac(use, "stream", iv)  # 32 bytes, the most that a plaintext may have
    mixed = int.from_bytes(text) ^ int.from_bytes(stream[: len(text)])
    return mixed.to_bytes(len(text))


def _mac(use: str, purpose: str, message: bytes) -> bytes:
    return hmac.digest(_key(f"{use}.{purpose}", settings.SECRET_KEY), message, "sha256")


@lru_cache(maxsize=16)
def _key(purpose: str, secret: str) -> bytes:
    return hashlib.sha256(f"{purpose}:{secret}".encode()).digest()
