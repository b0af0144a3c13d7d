"""The data of a task in Label Studio: the addresses or texts of a screen's stimuli, in order, and nothing else."""

from collections.abc import Sequence
from typing import Any

from annotation.kinds.declaration import Kind
from annotation.label_studio.format.questions.controls import (
    ALL,
    TEXT,
    has_heading,
    noun_of,
    repeats,
    shown_name,
)

SHOWN = "shown"  # the field that lists the stimuli if screens show different numbers of them


def task_data(kind: Kind, stimuli: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a screen with these addresses or texts; a prompt that is shown comes last."""
    values = list(stimuli)
    data: dict[str, Any] = {}
    if kind.stimuli.prompt_shown:
        data[TEXT] = marked(kind, values.pop())
    medium = kind.stimuli.medium
    if medium == "text":
        values = [marked(kind, text) for text in values]
    if repeats(kind.stimuli):
        noun = noun_of(kind.stimuli)
        if has_heading(kind):
            data[ALL] = f"All {noun.lower()}s"
        data[SHOWN] = [
            {"name": f"{noun} {number}", medium: value} for number, value in enumerate(values, start=1)
        ]
        return data
    return data | {shown_name(index): value for index, value in enumerate(values)}


def marked(kind: Kind, text: str) -> str:
    """Return a text as it is shown: with single spaces between words if words can be marked."""
    return " ".join(text.split()) if kind.asks("span") else text
