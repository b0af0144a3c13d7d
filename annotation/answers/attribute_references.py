"""Opaque names for the attributes of one task, which a browser sends back instead of our keys.

The same attribute has a different name in every task. A name reveals only that it belongs to this task.
"""

import hashlib
import hmac
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from django.conf import settings

from annotation.assignment.sql import SHOWN_ATTRIBUTES
from annotation.models import Task
from foundation.database.statements import rows
from foundation.database.values import uuid_value

_LENGTH = 16
_AT_MOST = 20_000


class Shown(NamedTuple):
    """An attribute as a task shows it."""

    attribute_id: int
    ref: str
    text: str


_known: dict[UUID, tuple[Shown, ...]] = {}


def reference(task: Task, attribute_id: int) -> str:
    """Return the name of an attribute within `task`."""
    return _name(task.public_id, attribute_id)


def references(task: Task) -> dict[str, int]:
    """Return the attribute behind each name of `task`, in the order shown."""
    return {attribute.ref: attribute.attribute_id for attribute in shown_attributes(task)}


def shown_attributes(task: Task) -> tuple[Shown, ...]:
    """Return the attributes of `task` in the order shown. They never change, so a process reads them once."""
    attributes = _known.get(task.public_id)
    return attributes or remember(task, rows(SHOWN_ATTRIBUTES, [uuid_value(task.public_id)]))


def remember(task: Task, attributes: Iterable[tuple[int, str]]) -> tuple[Shown, ...]:
    """Keep which attributes, with their texts, `task` shows; return them as it shows them."""
    public_id = task.public_id
    if len(_known) >= _AT_MOST:
        _known.clear()
    screen_attributes = tuple(
        Shown(attribute_id, _name(public_id, attribute_id), text) for attribute_id, text in attributes
    )
    _known[public_id] = screen_attributes
    return screen_attributes


def _name(public_id: UUID, attribute_id: int) -> str:
    value = f"{public_id}:{attribute_id}".encode()
    return hmac.digest(_key(settings.SECRET_KEY), value, "sha256").hex()[:_LENGTH]


@lru_cache(maxsize=4)
def _key(secret: str) -> bytes:
    # As Django's `salted_hmac` derives it, once and not for each name.
    return hashlib.sha256(f"annotation.references{secret}".encode()).digest()
