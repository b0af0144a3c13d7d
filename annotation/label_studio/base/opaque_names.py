"""Names in Label Studio that reveal nothing: of a task (`ref`), of a project, of a campaign.

Each is derived from random numbers that never leave this server, so we can compute it again without storing it, and
nobody in Label Studio can see which tasks of two projects are the same, or what they are about. No secret key goes
into them, so a server whose key has changed still recognises its own names.
"""

import base64
import hashlib
from uuid import UUID

from annotation.label_studio.models import LabelStudioBridge, LabelStudioProject, LabelStudioTask

_LENGTH = 24


def place_name(slot: int | None, annotator_id: int | None) -> str:
    """Return the name of a project's role in the arrangement; it never changes."""
    if slot is not None:
        return f"slot {slot}"
    return "all" if annotator_id is None else f"annotator {annotator_id}"


def ref_of(project: LabelStudioProject, public_id: UUID) -> str:
    """Return the `ref` of one of our tasks in a project; it differs in every project.

    It depends on the project's role and on none of our primary keys, so a project that was hidden for a while is
    recognised by its tasks.
    """
    place = place_name(project.slot, project.annotator_id)
    return _digest(f"task:{project.bridge.public_id}:{place}:{public_id}").hex()[:_LENGTH]


def refs_of(project: LabelStudioProject) -> dict[int, str]:
    """Return the `ref` of every task in the project, by its number in Label Studio."""
    rows = LabelStudioTask.objects.filter(project=project).values_list("external_id", "task__public_id")
    return {external_id: ref_of(project, public_id) for external_id, public_id in rows.iterator()}


def title_of(bridge: LabelStudioBridge, number: int | None) -> str:
    """Return the title of a project. It only distinguishes the projects of a campaign and reveals nothing else."""
    name = base64.b32encode(_digest(f"campaign:{bridge.public_id}")).decode("ascii")[:4]
    return f"Campaign {name}" if number is None else f"Campaign {name} · {number}"


def mark_of(bridge: LabelStudioBridge, place: str) -> str:
    """Return the mark in a project's description by which we recognise our own projects."""
    return "ref " + _digest(f"project:{bridge.public_id}:{place}").hex()[:_LENGTH]


def _digest(text: str) -> bytes:
    return hashlib.sha256(f"stereoscope label studio {text}".encode()).digest()
