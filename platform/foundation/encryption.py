"""Encryption of secrets in the database, with keys derived from SECRET_KEY, and keyed hashes."""

import base64
import hmac

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from foundation.errors import DomainError


def seal(text: str, *, use: str) -> str:
    """Return `text` encrypted, so that a copy of the database does not reveal it. Each `use` has its own key."""
    return _fernet(use).encrypt(text.encode()).decode("ascii")


def unseal(sealed: str, *, use: str) -> str:
    """Return the text sealed with SECRET_KEY or one of SECRET_KEY_FALLBACKS; raise DomainError for other keys."""
    try:
        return _fernet(use).decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise DomainError(
            "sealed_unreadable",
            "A stored secret cannot be read with this server’s SECRET_KEY. Enter the secret again, or add "
            "the earlier key to SECRET_KEY_FALLBACKS.",
        ) from None


def keyed_hashes(text: str, *, use: str) -> tuple[str, ...]:
    """Return keyed hashes of `text` for look-ups: the first by SECRET_KEY, then one by each earlier key."""
    return tuple(hmac.new(key, text.encode(), "sha256").hexdigest() for key in _keys(f"{use}, hash"))


def cache_name(key: str, key_prefix: str, version: int) -> str:
    """Return the keyed hash of a cache key, because packages put people's addresses into keys."""
    return keyed_hashes(f"{key_prefix}:{version}:{key}", use="stereoscope cache")[0]


def _fernet(use: str) -> MultiFernet:
    return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in _keys(use)])


def _keys(use: str) -> list[bytes]:
    return [_key(secret, use) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]


def _key(secret: str | bytes, use: str) -> bytes:
    secret = secret.encode() if isinstance(secret, str) else secret
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=use.encode()).derive(secret)
