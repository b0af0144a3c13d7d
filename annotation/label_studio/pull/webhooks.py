"""Events that Label Studio sends us. They are not signed, so an event only tells us where to look.

Anybody who knows both secrets of a bridge (one in the address, one in a header) may send numbers of rows; we then
read those rows from the server itself. Label Studio waits one second and sends nothing twice, so an event is
stored at once and followed by a job. The next comparison of everything finds whatever was missed.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from annotation.label_studio.base import job_queue
from annotation.label_studio.client.encryption import unseal
from annotation.label_studio.models import LabelStudioBridge, LabelStudioEvent
from foundation.errors import DomainError

MAX_BYTES = 2 * 1024 * 1024
# Label Studio names at most this many rows at once; a larger number means: compare everything.
MOST_ROWS = 5_000
# If so many events wait, no more are stored except one that means: compare everything.
MOST_WAITING = 500
EVERYTHING = "EVERYTHING"

_ACTION = re.compile(r"[A-Z][A-Z_]{0,59}")
_BIGGEST = 2**63 - 1


@dataclass(frozen=True)
class Hint:
    """The rows in Label Studio that have changed according to a webhook."""

    action: str
    project: int | None
    tasks: tuple[int, ...]
    annotations: tuple[int, ...]

    @classmethod
    def parse(cls, body: bytes) -> "Hint | None":
        """Parse what Label Studio sends; None if it has another format."""
        try:
            payload = json.loads(body)
        except (ValueError, RecursionError):
            return None
        action = payload.get("action") if isinstance(payload, dict) else None
        if not isinstance(action, str) or not _ACTION.fullmatch(action):
            return None
        annotations = [
            element for key in ("annotation", "annotations") for element in _objects(payload.get(key))
        ]
        tasks = [element for key in ("task", "tasks") for element in _objects(payload.get(key))]
        task_ids = {_number(element.get("id")) for element in tasks} | {
            _number(element.get("task")) for element in annotations
        }
        numbers = {_number(element.get("id")) for element in annotations}
        project = payload.get("project")
        return cls(
            action,
            _number(project.get("id") if isinstance(project, dict) else project),
            tuple(sorted(element for element in task_ids if element is not None)),
            tuple(sorted(element for element in numbers if element is not None)),
        )


def receive(*, bridge: str, key: str, secret: str, body: bytes) -> LabelStudioEvent | None:
    """Store an event and queue its processing; None if anything about it is wrong.

    `key` is the secret in the address, `secret` that in the header. Wrong guesses are not counted: 256 bits cannot be
    guessed, and behind a proxy everybody has the same address, so that wrong requests would block correct ones.
    """
    if len(body) > MAX_BYTES:
        return None
    bridge_row = _bridge(bridge)
    if bridge_row is None or not _knows(bridge_row, key, secret):
        return None
    hint = Hint.parse(body)
    if hint is None:
        return None
    event = _write(bridge_row, hint)
    job_queue.wake(bridge_row)
    return event


def _bridge(public_id: str) -> LabelStudioBridge | None:
    try:
        identifier = UUID(public_id)
    except ValueError:
        return None
    return LabelStudioBridge.objects.select_related("campaign").filter(public_id=identifier).first()


def _knows(bridge: LabelStudioBridge, key: str, secret: str) -> bool:
    try:
        address, header = unseal(bridge.address_secret), unseal(bridge.header_secret)
    except DomainError:
        return False  # SECRET_KEY has changed; other pages tell the lead what to do
    # Both are always compared, in constant time.
    right = [constant_time_compare(sent, true) for sent, true in ((key, address), (secret, header))]
    return all(right)


@transaction.atomic
def _write(bridge: LabelStudioBridge, hint: Hint) -> LabelStudioEvent:
    LabelStudioBridge.objects.filter(pk=bridge.pk).update(event_at=timezone.now())
    waiting = bridge.events.filter(done_at=None)
    if waiting.count() >= MOST_WAITING:
        event, _ = waiting.get_or_create(action=EVERYTHING, defaults={"bridge": bridge})
        return event
    everything = max(len(hint.tasks), len(hint.annotations)) > MOST_ROWS
    return LabelStudioEvent.objects.create(
        bridge=bridge,
        action=EVERYTHING if everything else hint.action,
        project=hint.project,
        tasks=[] if everything else list(hint.tasks),
        annotations=[] if everything else list(hint.annotations),
    )


def _objects(value: object) -> Iterator[Mapping[str, Any]]:
    for element in value if isinstance(value, list) else [value]:
        if isinstance(element, dict):
            yield element


def _number(value: object) -> int | None:
    return value if type(value) is int and 0 < value <= _BIGGEST else None
