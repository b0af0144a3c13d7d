"""Fingerprints of the keys that a backup needs, and its signature. A backup never contains keys."""

import hmac

from foundation.encryption import keyed_hashes
from foundation.errors import DomainError
from operations.backups.manifest import Manifest, damaged

_LENGTH = 16  # characters of a fingerprint, enough to distinguish keys


def fingerprints() -> list[str]:
    """Return fingerprints of SECRET_KEY and of each earlier key, from which no key can be computed."""
    return [digest[:_LENGTH] for digest in keyed_hashes("fingerprint", use="backup")]


def sign(manifest: bytes) -> str:
    """Return the signature of a manifest."""
    return keyed_hashes(manifest.decode(), use="backup manifest")[0]


def check(manifest: Manifest, content: bytes, signature: str, *, backup_name: str) -> None:
    """Raise DomainError if a key of the backup is missing, or if its manifest was changed after signing."""
    own_keys = fingerprints()
    missing_keys = [key for key in manifest.keys if key not in own_keys]
    if missing_keys:
        raise DomainError(
            "backup_of_other_key",
            f"Backup {backup_name} needs the SECRET_KEY with the fingerprint {missing_keys[0]}, but this "
            f"server’s key has the fingerprint {own_keys[0]}: set the backup’s key as SECRET_KEY or in "
            f"SECRET_KEY_FALLBACKS.",
        )
    signatures = keyed_hashes(content.decode(), use="backup manifest")
    if not any(hmac.compare_digest(signature.encode(), expected.encode()) for expected in signatures):
        raise damaged(backup_name, "its manifest was changed after it was signed")
