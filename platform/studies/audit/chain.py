"""A hash chain over the audit trail, which reveals changed, removed and inserted entries.

Entries are written concurrently, in the transactions of the changes they record; soon afterwards a worker adds them
to the chain in order. Each link contains a keyed hash of its entry and of the previous link, with a key that is not in
the database. A person with both key and database could write a new chain, so note the latest digest elsewhere (syslog,
a backup) and check that it is still in the chain.
"""

import json
import logging
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max

from accounts.models import User
from foundation.encryption import keyed_hashes
from studies import audit
from studies.models import AuditEntry, AuditLink

REDACTED = "audit_entry.redacted"
MOST_PROBLEMS = 20  # number of problems reported
_AT_ONCE = 500
_CONTENT = "stereoscope audit content"
_LINK = "stereoscope audit chain"
_log = logging.getLogger("stereoscope.audit")


@dataclass(frozen=True)
class AuditVerification:
    """The result of checking the chain. `head` is the digest of the last link, or ""."""

    links: int
    unsealed: int
    head: str
    problems: tuple[str, ...]


def seal_entries() -> int:
    """Add entries without a link to the chain and log them to syslog; return their number.

    If two workers do so at once, one succeeds and the other stops.
    """
    sealed = 0
    while True:
        try:
            batch = _seal_batch()
        except IntegrityError:
            return sealed
        sealed += batch
        if batch < _AT_ONCE:
            return sealed


@transaction.atomic
def _seal_batch() -> int:
    entries = list(AuditEntry.objects.filter(is_sealed=False).order_by("pk")[:_AT_ONCE])
    if not entries:
        return 0
    head = AuditLink.objects.order_by("position").last()
    position, digest = (head.position, head.digest) if head else (0, "")
    links = []
    for position, entry in enumerate(entries, start=position + 1):  # noqa: B020 - goes on from the head
        link = AuditLink(
            position=position,
            entry=entry,
            entry_number=entry.pk,
            study_number=entry.study_id,
            actor_number=entry.actor_id,
            salt=secrets.token_hex(16),
        )
        link.content = _contents(link, entry)[0]
        link.digest = digest = _digests(link, digest)[0]
        links.append(link)
    AuditLink.objects.bulk_create(links)
    AuditEntry.objects.filter(pk__in=[entry.pk for entry in entries]).update(is_sealed=True)
    for link, entry in zip(links, entries, strict=True):
        # Before the commit: better logged twice than not at all.
        _log.info("%s", json.dumps(_told(link, entry), sort_keys=True))
    return len(links)


@transaction.atomic
def redact(*, entry: AuditEntry, by: User | None, reason: str) -> None:
    """Erase an entry's details, which name a person; the entry and a record of the redaction remain."""
    entry.details = {}
    entry.save(update_fields=["details"])
    AuditLink.objects.filter(entry=entry).update(salt="")
    audit.record(by=by, action=REDACTED, subject=entry, study=entry.study, reason=reason)


def verify(*, head: str = "") -> AuditVerification:
    """Check the whole chain and, if given, that it still contains `head`, a digest noted earlier."""
    problems: list[str] = []
    position, digest, is_head_seen = 0, "", not head
    redacted = set(AuditEntry.objects.filter(action=REDACTED).values_list("subject", flat=True))
    for link in AuditLink.objects.select_related("entry").order_by("position").iterator(chunk_size=2000):
        problems.extend(_problems(link, position, digest, redacted))
        position, digest = link.position, link.digest
        is_head_seen = is_head_seen or link.digest == head
    problems.extend(_unlinked())
    if not is_head_seen:
        problems.append("The digest that you noted is not in the chain: its end was removed or rewritten.")
    return AuditVerification(
        links=AuditLink.objects.count(),
        unsealed=AuditEntry.objects.filter(is_sealed=False).count(),
        head=digest,
        problems=tuple(problems[:MOST_PROBLEMS]),
    )


def _problems(link: AuditLink, before: int, digest: str, redacted: set[str]) -> Iterator[str]:
    if link.position != before + 1:
        yield f"Links {before + 1} to {link.position - 1} are missing."
    elif link.digest not in _digests(link, digest):
        yield f"Link {link.position} was changed, or this server has another SECRET_KEY than when the link was made."
    entry = link.entry
    if entry is None:
        yield f"Entry {link.entry_number} was deleted."
    elif not link.salt:
        if f"auditentry:{entry.pk}" not in redacted or entry.details:
            yield f"Entry {entry.pk} cannot be checked, and no redaction was recorded."
    elif link.content not in _contents(link, entry) or not _numbers_agree(link, entry):
        yield f"Entry {entry.pk} was changed."


def _unlinked() -> Iterator[str]:
    for number in AuditEntry.objects.filter(is_sealed=True, link=None).values_list("pk", flat=True)[
        :MOST_PROBLEMS
    ]:
        yield f"Entry {number} has lost its link."
    latest = AuditLink.objects.aggregate(latest=Max("entry_number"))["latest"] or 0
    # Entries are sealed in order of number, except entries whose transactions were still open.
    unsealed = AuditEntry.objects.filter(is_sealed=False, pk__lt=latest - _AT_ONCE)
    for number in unsealed.values_list("pk", flat=True)[:MOST_PROBLEMS]:
        yield f"Entry {number} is not in the chain, although later entries are."


def _numbers_agree(link: AuditLink, entry: AuditEntry) -> bool:
    """Return whether study and person are unchanged or were deleted since."""
    return entry.study_id in {None, link.study_number} and entry.actor_id in {None, link.actor_number}


def _contents(link: AuditLink, entry: AuditEntry) -> tuple[str, ...]:
    content = [
        link.salt,
        entry.pk,
        link.study_number,
        link.actor_number,
        entry.action,
        entry.subject,
        entry.details,
        entry.at.isoformat(),
    ]
    return keyed_hashes(json.dumps(content, sort_keys=True, ensure_ascii=False), use=_CONTENT)


def _digests(link: AuditLink, before: str) -> tuple[str, ...]:
    parts = [link.position, link.entry_number, link.study_number, link.actor_number, link.content, before]
    return keyed_hashes(json.dumps(parts), use=_LINK)


def _told(link: AuditLink, entry: AuditEntry) -> dict[str, Any]:
    """Return the fields of an entry for syslog: numbers, action and digest, but no names or reasons."""
    return {
        "position": link.position,
        "entry": entry.pk,
        "study": entry.study_id,
        "actor": entry.actor_id,
        "action": entry.action,
        "subject": entry.subject,
        "at": entry.at.isoformat(),
        "digest": link.digest,
    }
