"""A person as an identity provider describes them, reduced to the details in use."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from allauth.account.internal.emailkit import valid_email_or_none
from django.conf import settings

LONGEST_NAME = 120


@dataclass(frozen=True)
class Identity:
    """A person at an identity provider. `subject` never changes there; all other details may."""

    provider: str
    subject: str
    email: str = ""
    is_email_verified: bool = False
    username: str = ""
    name: str = ""
    groups: frozenset[str] = frozenset()
    has_second_factor: bool = False


def identity_from_claims(*, provider: str, subject: str, claims: Mapping[str, Any]) -> Identity:
    """Return the identity in the claims of OpenID Connect."""
    email = valid_email_or_none(_text(claims.get("email"))) or ""
    factors = {*texts(claims.get("acr")), *texts(claims.get("amr"))}
    return Identity(
        provider=provider,
        subject=subject,
        email=email,
        is_email_verified=bool(email) and (_is_true(claims.get("email_verified")) or _is_trusted(email)),
        username=_text(claims.get("preferred_username")),
        name=_text(claims.get("name"))[:LONGEST_NAME],
        groups=frozenset(texts(claim(claims, settings.SSO_GROUPS_CLAIM))),
        has_second_factor=bool(factors & set(settings.SSO_SECOND_FACTOR)),
    )


def claim(claims: Mapping[str, Any], name: str) -> Any:
    """Return a claim by its name, or by a path such as `realm_access.roles`."""
    if name in claims:
        return claims[name]
    value: Any = claims
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def texts(value: Any) -> list[str]:
    """Return the texts of a claim that is a text or a list of texts; empty for any other claim."""
    if isinstance(value, str):
        return [value]
    return [part for part in value if isinstance(part, str)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _is_true(value: Any) -> bool:
    """Return whether a claim is true. Some providers send words; "false" must not count as true."""
    return value is True or value == "true"


def _is_trusted(email: str) -> bool:
    domain = email.rpartition("@")[2].lower()
    return domain in {trusted.lower() for trusted in settings.SSO_EMAIL_DOMAINS}
