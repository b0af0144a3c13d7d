"""Names in Label Studio that reveal nothing: of a task (`ref`), of a project, of a campaign.

Each is derived from random numbers that never leave this server, so we can compute it again without storing it, and
nobody in Label Studio can tell which tasks of two projects are the same, or what they are about. No secret key goes
into them, so a server whose key has changed still recognises its own names.
"""

import base64
import hashlib
from uuid import UUID

from annotation.label_studio.models import LabelStudioBridge, LabelStudioProject, LabelStudioTask

_LENGTH = 24


def place_name(slot: int | None, annotator_id: int | None) -> str:
    """Return what a project is by the arrangement, the same whenever it is asked."""
    if slot is not None:
        return f"slot {slot}"
    return "all" if annotator_id is None else f"annotator {annotator_id}"


def ref_of(project: LabelStudioProject, public_id: UUID) -> str:
    """Return the `ref` of a task of ours in one project: another one in every project.

    It follows from what the project is for and from no number of ours: a project that could not be seen for a while
    is known again by its tasks.
    """
    place = place_name(project.slot, project.annotator_id)
    return _digest(f"task:{project.bridge.public_id}:{place}:{public_id}").hex()[:_LENGTH]


def refs_of(project: LabelStudioProject) -> dict[int, str]:
    """Return the `ref` of every task that stands in the project, by its number in Label Studio."""
    rows = LabelStudioTask.objects.filter(project=project).values_list("external_id", "task__public_id")
    return {external_id: ref_of(project, public_id) for external_id, public_id in rows.iterator()}


def title_of(bridge: LabelStudioBridge, number: int | None) -> str:
    """Return the title of a project, by which people tell several of a campaign apart and nothing more."""
    name = base64.b32encode(_digest(f"campaign:{bridge.public_id}")).decode("ascii")[:4]
    return f"Campaign {name}" if number is None else f"Campaign {name} · {number}"


def mark_of(bridge: LabelStudioBridge, place: str) -> str:
    """Return what the description of a project holds, so that we know our own again."""
    return "ref " + _digest(f"project:{bridge.public_id}:{place}").hex()[:_LENGTH]


def _digest(text: str) -> bytes:
    return hashlib.sha256(f"stereoscope label studio {text}".encode()).digest()
