"""Verified statements: each is accepted once, and waits at most five minutes for the browser of its person."""

import hashlib
import json
import secrets
from dataclasses import asdict, dataclass
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import UsedAssertion
from accounts.sign_in.providers.identity import Identity
from accounts.sign_in.providers.saml.errors import AnswerRefused
from foundation.encryption import seal, unseal

WAITS = timedelta(minutes=5)
# The request that an assertion answers is at most ten minutes old, so no assertion is accepted after this
# time.
REMEMBERED = timedelta(hours=1)
_USE = "saml statement"


@dataclass(frozen=True)
class VerifiedStatement:
    """The identity of a person in an identity provider's answer to one request."""

    issuer: str
    assertion_id: str
    request_id: str
    identity: Identity


def accept(statement: VerifiedStatement) -> str:
    """Store a verified statement and return a ticket for it. Raises AnswerRefused the second time."""
    remove_expired()
    ticket = secrets.token_urlsafe(32)
    try:
        with transaction.atomic():
            UsedAssertion.objects.create(
                digest=_digest(f"{statement.issuer}\n{statement.assertion_id}"),
                ticket_hash=_digest(ticket),
                statement_sealed=seal(_written(statement), use=_USE),
                accepted_at=timezone.now(),
            )
    except IntegrityError:
        raise AnswerRefused("used_before") from None
    return ticket


def take(ticket: str) -> tuple[str, Identity] | None:
    """Return the request and the person of a ticket, once; None for a used, expired or invalid ticket."""
    waiting = UsedAssertion.objects.filter(
        ticket_hash=_digest(ticket), accepted_at__gt=timezone.now() - WAITS
    ).first()
    if waiting is None or not _empty(pk=waiting.pk, ticket_hash=waiting.ticket_hash):
        return None
    return _read(unseal(waiting.statement_sealed, use=_USE))


def remove_expired() -> None:
    """Empty statements that were not taken in time, and delete assertions too old to be accepted."""
    now = timezone.now()
    _empty(ticket_hash__isnull=False, accepted_at__lte=now - WAITS)
    UsedAssertion.objects.filter(accepted_at__lte=now - REMEMBERED).delete()


def _empty(**rows: object) -> int:
    return UsedAssertion.objects.filter(**rows).update(ticket_hash=None, statement_sealed="")


def _written(statement: VerifiedStatement) -> str:
    identity = {**asdict(statement.identity), "groups": sorted(statement.identity.groups)}
    return json.dumps({"request_id": statement.request_id, "identity": identity})


def _read(written: str) -> tuple[str, Identity]:
    content = json.loads(written)
    identity = content["identity"]
    return content["request_id"], Identity(**{**identity, "groups": frozenset(identity["groups"])})


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
