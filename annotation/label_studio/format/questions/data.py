"""What a task in Label Studio holds of a screen: pictures' addresses or texts, in the order shown, and nothing else."""

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

SHOWN = "shown"  # the field that lists stimuli where screens show more or fewer of them


def task_data(kind: Kind, stimuli: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a screen with these addresses or texts, a prompt that is shown last."""
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
    """Return a text as it is shown: where its words can be marked, with one space between two of them."""
    return " ".join(text.split()) if kind.asks("span") else text
