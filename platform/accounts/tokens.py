"""API tokens: created once, shown once, stored as a hash."""

import hashlib
import json
import secrets
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.utils import timezone

from accounts.models import ApiToken, User
from foundation.database.statements import known, rows
from foundation.errors import DomainError

# Read at every request of a program; other columns of token and person are loaded on access.
_TOKEN = ("id", "user_id", "scopes", "expires_at", "last_used_at")
_PERSON = ("id", "username", "display_name", "is_active", "is_staff", "is_superuser", "is_lead", "is_analyst")
_FIND = f"""
    SELECT {", ".join(f"t.{name}" for name in _TOKEN)}, {", ".join(f"u.{name}" for name in _PERSON)}
    FROM accounts_apitoken t JOIN accounts_user u ON u.id = t.user_id
    WHERE t.key_hash = %s AND t.revoked_at IS NULL AND u.is_active
"""  # noqa: S608 -- names of columns from above


def hash_key(key: str) -> str:
    """Return the stored hash of a key. Keys are 256 random bits, so a plain hash is secure."""
    return hashlib.sha256(key.encode()).hexdigest()


@transaction.atomic
def issue(
    *, user: User, name: str, scopes: Iterable[str], expires_at: datetime | None = None
) -> tuple[ApiToken, str]:
    """Create a token for `user`; the key is returned only here."""
    chosen = sorted(set(scopes))
    unknown = set(chosen) - set(ApiToken.Scope.values)
    if unknown or not chosen:
        raise DomainError(
            "scopes_invalid",
            "Choose at least one of the scopes " + ", ".join(ApiToken.Scope.values) + ".",
            fields={"scopes": "unknown or empty"},
        )
    if not name.strip():
        raise DomainError("name_missing", "Give the token a name.", fields={"name": "empty"})
    prefix = secrets.token_hex(4)
    key = f"sts_{prefix}_{secrets.token_urlsafe(32)}"
    token = ApiToken.objects.create(
        user=user,
        name=name.strip(),
        prefix=prefix,
        key_hash=hash_key(key),
        scopes=chosen,
        expires_at=expires_at,
    )
    return token, key


def revoke(*, token: ApiToken) -> None:
    """Revoke a token."""
    ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())


def find(key: str) -> ApiToken | None:
    """Return the live token of `key`, or None."""
    token_rows = rows(_FIND, [hash_key(key)])
    if not token_rows:
        return None
    columns = dict(zip(_TOKEN, token_rows[0], strict=False))
    person = dict(zip(_PERSON, token_rows[0][len(_TOKEN) :], strict=True))
    columns |= {name: _moment(columns[name]) for name in ("expires_at", "last_used_at")}
    if columns["expires_at"] is not None and columns["expires_at"] <= timezone.now():
        return None
    if isinstance(columns["scopes"], str):  # raw value of the JSON column
        columns["scopes"] = json.loads(columns["scopes"])
    token = known(ApiToken, **columns)
    token.user = known(
        User, **person | {name: bool(person[name]) for name in _PERSON if name.startswith("is_")}
    )
    return token


def _moment(stored: Any) -> datetime | None:
    if isinstance(stored, str):  # from SQLite, which stores text
        stored = datetime.fromisoformat(stored)
    zone = connections[DEFAULT_DB_ALIAS].timezone
    return stored if stored is None or timezone.is_aware(stored) else timezone.make_aware(stored, zone)
