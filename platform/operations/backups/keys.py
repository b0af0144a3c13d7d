"""Which keys a backup needs, by their fingerprints. A backup never contains the keys."""

import hmac

from foundation.encryption import keyed_hashes
from foundation.errors import DomainError
from operations.backups.manifest import Manifest, damaged

_LENGTH = 16  # characters of a fingerprint: enough to tell keys apart


def fingerprints() -> list[str]:
    """Return a fingerprint of SECRET_KEY, then of each earlier key; no key can be computed from one."""
    return [digest[:_LENGTH] for digest in keyed_hashes("fingerprint", use="backup")]


def sign(manifest: bytes) -> str:
    """Return what shows that this server wrote the manifest."""
    return keyed_hashes(manifest.decode(), use="backup manifest")[0]


def check(manifest: Manifest, content: bytes, signature: str, *, backup_name: str) -> None:
    """Refuse a backup of another key, and a manifest that was changed after it was signed."""
    own_keys = fingerprints()
    missing_keys = [key for key in manifest.keys if key not in own_keys]
    if missing_keys:
        raise DomainError(
            "backup_of_other_key",
            f"Backup {backup_name} needs the SECRET_KEY with the fingerprint {missing_keys[0]}, and this "
            f"server’s has "
            f"{own_keys[0]}: set that key as SECRET_KEY or in SECRET_KEY_FALLBACKS.",
        )
    signatures = keyed_hashes(content.decode(), use="backup manifest")
    if not any(hmac.compare_digest(signature.encode(), expected.encode()) for expected in signatures):
        raise damaged(backup_name, "its manifest was changed after it was signed")
