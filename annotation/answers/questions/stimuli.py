"""The stimuli of a task with questions, by the names that a browser sends back: s1, s2, … in order, and `prompt`."""

from collections.abc import Iterable
from typing import Any, NamedTuple
from uuid import UUID

from annotation.answers.questions.values import ScreenQuestions
from annotation.assignment.sql import SHOWN_STIMULI
from annotation.kinds.declaration import Kind
from annotation.kinds.registry import kind_of
from annotation.models import Task
from foundation.database.statements import known, rows
from foundation.database.values import uuid_value
from generation.models import Image

PROMPT = "prompt"
_AT_MOST = 20_000


class ShownStimulus(NamedTuple):
    """An image or a text, as a task shows it."""

    stimulus_id: int
    ref: str
    image: Image | None
    text: str


_remembered: dict[UUID, tuple[ShownStimulus, ...]] = {}


def shown_stimuli(task: Task) -> tuple[ShownStimulus, ...]:
    """Return the stimuli of `task` in the order shown. They never change, so a process reads them once."""
    stimuli = _remembered.get(task.public_id)
    return stimuli or remember(task, rows(SHOWN_STIMULI, [uuid_value(task.public_id)]))


def remember(task: Task, stimuli: Iterable[tuple[Any, ...]]) -> tuple[ShownStimulus, ...]:
    """Cache the stimuli of `task`, from rows of `sql.SHOWN_STIMULI`; return them."""
    if len(_remembered) >= _AT_MOST:
        _remembered.clear()
    lines = list(stimuli)
    refs = refs_of(kind_of(task.campaign), len(lines))
    shown = tuple(
        ShownStimulus(pk, ref, _image(*image), text)
        for ref, (pk, text, *image) in zip(refs, lines, strict=True)
    )
    if not task.campaign.options.get("texts_from"):  # people may withdraw their texts at any time
        _remembered[task.public_id] = shown
    return shown


def screen_questions(task: Task, *, regions_required: bool = True) -> ScreenQuestions:
    """Return the questions of the campaign’s kind about the stimuli of `task`.

    Without `regions_required` no answer needs a place in the image.
    """
    kind = kind_of(task.campaign)
    stimuli = shown_stimuli(task)
    marked_text = next((stimulus.text for stimulus in reversed(stimuli) if stimulus.text), "")
    return ScreenQuestions(
        kind=kind,
        refs=tuple(stimulus.ref for stimulus in stimuli if stimulus.ref != PROMPT),
        words=len(marked_text.split()),
        regions_required=task.campaign.boxes_required if regions_required else None,
    )


def refs_of(kind: Kind, count: int) -> list[str]:
    """Return the names of a number of stimuli; a prompt that is shown comes last."""
    if kind.stimuli.prompt_shown:
        return [*(f"s{number}" for number in range(1, count)), PROMPT]
    return [f"s{number}" for number in range(1, count + 1)]


def _image(
    pk: int | None, public_id: Any, file: str | None, width: int | None, height: int | None
) -> Image | None:
    if pk is None:
        return None
    return known(Image, id=pk, public_id=UUID(str(public_id)), file=file, width=width, height=height)
