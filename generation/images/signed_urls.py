"""Images as people see them: re-encoded, without metadata, under addresses that say nothing.

An address holds a token: the image's random public id, what it is for and when it expires, encrypted and
authenticated. Anyone with the token sees the image until then, without a session: a labelling tool elsewhere
shows it too. The encryption is the synthetic-IV construction (as in RFC 5297) with HMAC-SHA256 as its only
primitive: the IV is a MAC of the plaintext, so nothing can be altered, and equal contents give equal
addresses, which is what lets a browser keep an image it has.
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
    """What a token says."""

    public_id: uuid.UUID
    expires_at: int  # seconds since 1970
    size: int


def image_url(image: Image, *, viewer: str, size: int = FULL, now: float | None = None) -> str:
    """Return an address of the image for `viewer` (whom it is shown to: `user:5`), or "" without a file.

    Addresses of two viewers differ, so they cannot find out that they see the same image. All that a viewer
    gets within one period expire together, which keeps them the same on every page meanwhile.
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
    """Return what the token says; NotFound when it was altered, made up, or has expired."""
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
    """Return a token of at most 32 bytes that only `unseal` with the same `use` reads."""
    iv = _mac(use, "iv", plain)[:_IV]
    return base64.urlsafe_b64encode(iv + _mask(use, iv, plain)).rstrip(b"=").decode("ascii")


def unseal(token: str, *, length: int, use: str = _USE) -> bytes | None:
    """Return the `length` bytes that were sealed, or None for a token that was altered or made up."""
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
    stream = _mac(use, "stream", iv)  # 32 bytes, no plaintext has more
    mixed = int.from_bytes(text) ^ int.from_bytes(stream[: len(text)])
    return mixed.to_bytes(len(text))


def _mac(use: str, purpose: str, message: bytes) -> bytes:
    return hmac.digest(_key(f"{use}.{purpose}", settings.SECRET_KEY), message, "sha256")


@lru_cache(maxsize=16)
def _key(purpose: str, secret: str) -> bytes:
    return hashlib.sha256(f"{purpose}:{secret}".encode()).digest()
