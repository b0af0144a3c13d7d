"""What a Label Studio tells us by itself. It is not signed, so it is a hint where to look and nothing else.

Whoever knows both secrets of a bridge (one in the address, one in a header) may tell us numbers of rows; what
is in those rows is then asked of the server itself. Label Studio waits a second and tells nothing twice, so a
hint is written down at once and followed by a job; whatever is missed, the next comparison of everything finds.
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
from annotation.models import LabelStudioBridge, LabelStudioEvent
from foundation.errors import DomainError

MAX_BYTES = 2 * 1024 * 1024
# Label Studio names at most this many rows at once; whoever names more says: look at everything.
MOST_ROWS = 5_000
# When so many wait, no further one is written down, but one that stands for all: look at everything.
MOST_WAITING = 500
EVERYTHING = "EVERYTHING"

_ACTION = re.compile(r"[A-Z][A-Z_]{0,59}")
_BIGGEST = 2**63 - 1


@dataclass(frozen=True)
class Hint:
    """Which rows over there somebody says have changed."""

    action: str
    project: int | None
    tasks: tuple[int, ...]
    annotations: tuple[int, ...]

    @classmethod
    def parse(cls, body: bytes) -> "Hint | None":
        """Read what Label Studio sends; None where it is not of that shape."""
        try:
            told = json.loads(body)
        except (ValueError, RecursionError):
            return None
        action = told.get("action") if isinstance(told, dict) else None
        if not isinstance(action, str) or not _ACTION.fullmatch(action):
            return None
        annotations = [one for key in ("annotation", "annotations") for one in _objects(told.get(key))]
        tasks = [one for key in ("task", "tasks") for one in _objects(told.get(key))]
        named = {_number(one.get("id")) for one in tasks} | {_number(one.get("task")) for one in annotations}
        numbers = {_number(one.get("id")) for one in annotations}
        project = told.get("project")
        return cls(
            action,
            _number(project.get("id") if isinstance(project, dict) else project),
            tuple(sorted(one for one in named if one is not None)),
            tuple(sorted(one for one in numbers if one is not None)),
        )


def receive(*, bridge: str, key: str, secret: str, body: bytes) -> LabelStudioEvent | None:
    """Write a hint down and have it followed; None where anything about it is wrong, whatever that is.

    `key` is the secret of the address, `secret` that of the header. Wrong guesses are not counted: 256 bits are not
    guessed, and behind a proxy everybody has one address, so that who is wrong would silence who is right.
    """
    if len(body) > MAX_BYTES:
        return None
    found = _bridge(bridge)
    if found is None or not _knows(found, key, secret):
        return None
    hint = Hint.parse(body)
    if hint is None:
        return None
    event = _write(found, hint)
    job_queue.wake(found)
    return event


def _bridge(public_id: str) -> LabelStudioBridge | None:
    try:
        named = UUID(public_id)
    except ValueError:
        return None
    return LabelStudioBridge.objects.select_related("campaign").filter(public_id=named).first()


def _knows(bridge: LabelStudioBridge, key: str, secret: str) -> bool:
    try:
        address, header = unseal(bridge.address_secret), unseal(bridge.header_secret)
    except DomainError:
        return False  # SECRET_KEY is another one now; what the lead does about it is said elsewhere
    # Both are always compared, and each in the same time wherever it differs.
    right = [constant_time_compare(given, true) for given, true in ((key, address), (secret, header))]
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
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            yield one


def _number(value: object) -> int | None:
    return value if type(value) is int and 0 < value <= _BIGGEST else None
