"""Secrets of other servers, stored encrypted in our database with a key that is not in it."""

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from foundation.errors import DomainError


def seal(text: str) -> str:
    """Return `text` encrypted: what a copy of the database alone does not give away."""
    return _keys().encrypt(text.encode()).decode("ascii")


def unseal(sealed: str) -> str:
    """Return what was sealed with this server's SECRET_KEY, or with one of SECRET_KEY_FALLBACKS."""
    try:
        return _keys().decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise DomainError(
            "sealed_unreadable",
            "A stored secret cannot be read with this server’s SECRET_KEY. Give it again, "
            "or name the earlier key in SECRET_KEY_FALLBACKS.",
        ) from None


def _keys() -> MultiFernet:
    return MultiFernet([_key(secret) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _key(secret: str | bytes) -> Fernet:
    secret = secret.encode() if isinstance(secret, str) else secret
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"stereoscope label studio").derive(secret)
    return Fernet(base64.urlsafe_b64encode(derived))
