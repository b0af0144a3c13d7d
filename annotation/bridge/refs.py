"""Names over there that say nothing: of a task (`ref`), of a project, of a campaign.

Each is a keyed hash, so that it can be found again without having been written down, and so that nobody without
our key can tell which tasks of two projects are the same, or what any of them is about.
"""

import base64
import hashlib
import hmac
from functools import lru_cache
from uuid import UUID

from django.conf import settings

from annotation.models import LabelStudioBridge, LabelStudioProject

_LENGTH = 24


def ref_of(project: LabelStudioProject, public_id: UUID) -> str:
    """Return the `ref` of a task of ours in one project: another one in every project."""
    return _names(project, public_id, settings.SECRET_KEY)


def refs_of(project: LabelStudioProject, public_id: UUID) -> tuple[str, ...]:
    """Return every `ref` the task may have there: those of earlier keys of this server are still known."""
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return tuple(_names(project, public_id, secret) for secret in secrets)


def title_of(bridge: LabelStudioBridge, place: str) -> str:
    """Return the title of a project, by which people tell several of a campaign apart and nothing more."""
    name = base64.b32encode(_mac(f"campaign:{bridge.public_id}", settings.SECRET_KEY)).decode("ascii")[:4]
    return f"Campaign {name} · {place}" if place else f"Campaign {name}"


def mark_of(bridge: LabelStudioBridge, place: str) -> str:
    """Return what the description of a project holds, so that we know our own again."""
    return "ref " + _mac(f"project:{bridge.public_id}:{place}", settings.SECRET_KEY).hex()[:_LENGTH]


def _names(project: LabelStudioProject, public_id: UUID, secret: str) -> str:
    return _mac(f"task:{project.pk}:{public_id}", secret).hex()[:_LENGTH]


def _mac(message: str, secret: str) -> bytes:
    return hmac.digest(_key(secret), message.encode(), "sha256")


@lru_cache(maxsize=8)
def _key(secret: str) -> bytes:
    return hashlib.sha256(f"annotation.bridge.refs:{secret}".encode()).digest()
