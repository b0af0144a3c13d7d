"""The screens of a campaign with declared questions, from which a lead chooses those with known answers.

Other screens are not allowed, because a screen that the campaign does not have would be recognised.
"""

import hashlib
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from annotation.campaigns.planning import task_plan
from annotation.campaigns.planning.plan import PlannedStimulus, PlannedTask
from annotation.models import Campaign, CopiedText, Task
from foundation.errors import NotFound


@dataclass(frozen=True)
class PlannedScreen:
    """The stimuli of a screen, and its key in addresses."""

    key: str
    stimuli: tuple[PlannedStimulus, ...]


def screens_of(campaign: Campaign) -> list[PlannedTask] | QuerySet[Task]:
    """Return the screens, to be read one page at a time: planned screens of a draft, stored ones later."""
    if campaign.state == Campaign.State.DRAFT:
        return list(task_plan.plan(campaign).tasks)
    labels = campaign.tasks.filter(purpose=Task.Purpose.LABEL, withdrawn=False)
    return labels.order_by("pk").prefetch_related("stimuli")


def as_screen(row: PlannedTask | Task) -> PlannedScreen:
    """Return one of `screens_of`."""
    if isinstance(row, Task):
        return PlannedScreen(str(row.public_id), shown_in(row))
    return PlannedScreen(_key(row.stimuli), row.stimuli)


def screen_named(campaign: Campaign, key: str) -> PlannedScreen:
    """Return the screen with this key; raises NotFound."""
    rows = screens_of(campaign)
    if isinstance(rows, list):
        screen_found = next((screen for screen in map(as_screen, rows) if screen.key == key), None)
    else:
        try:
            task = rows.filter(public_id=UUID(key)).first()
        except ValueError:
            task = None
        screen_found = None if task is None else as_screen(task)
    if screen_found is None:
        raise NotFound("screen_not_found", "The campaign has no such screen.")
    return screen_found


def shown_in(task: Task) -> tuple[PlannedStimulus, ...]:
    """Return the stimuli of a task."""
    writers = dict(CopiedText.objects.filter(stimulus__task=task).values_list("stimulus", "writer"))
    return tuple(PlannedStimulus(row.image_id, row.text, writers.get(row.pk)) for row in task.stimuli.all())


def _key(stimuli: Sequence[PlannedStimulus]) -> str:
    content = json.dumps([[stimulus.image_id, stimulus.text] for stimulus in stimuli])
    return str(uuid.UUID(bytes=hashlib.sha256(content.encode()).digest()[:16]))
