"""What an annotation over there answers to a task of ours, or why it answers nothing.

The same rules hold as on our own pages (`annotation.answers.validation`); here only the two ways of
writing are turned into each other.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.answers.validation import Answer
from annotation.label_studio.base import reasons
from annotation.label_studio.format.interface import NO, NONE, SOME, YES
from annotation.label_studio.format.names import OURS
from annotation.label_studio.format.regions import Answered, read_results
from annotation.models import Campaign
from foundation.errors import DomainError

_LONGEST = 300
_SIDES = ("x", "y", "width", "height")
_ONE_OF_EACH = ("rating", "justification", "none_of_the_above")
_SAID_NONE = {"": False, NO: False, SOME: False, YES: True, NONE: True}
_RATINGS = {str(value): value for value in range(1, 6)}


class Unreadable(ValueError):
    """An annotation that is no answer to what was asked; its text says why."""


@dataclass(frozen=True)
class Asked:
    """What a task asks: its attributes by their texts, in the order shown."""

    rates: bool
    boxes_required: bool
    attributes: Mapping[str, int]

    @classmethod
    def of(cls, campaign: Campaign, attributes: Mapping[str, int]) -> "Asked":
        return cls(campaign.kind == Campaign.Kind.ATTRIBUTE_LIKERT, campaign.boxes_required, attributes)


def read(result: Any, asked: Asked) -> Answer:
    """Return the answer that a mirrored result gives; raises Unreadable."""
    if missing := reasons.why_no_result(result):
        raise Unreadable(missing)
    try:
        _refuse_several(result)
        answered = read_results(result, OURS)
        data = _rating(answered) if asked.rates else _marks(answered, asked)
    except ValueError as error:
        raise Unreadable(_short(str(error))) from error
    try:
        if asked.rates:
            return Answer.rating_of(data)
        return Answer.marks_of(data, asked.attributes, boxes_required=asked.boxes_required)
    except DomainError as error:
        raise Unreadable(_short(_said(error, asked))) from error


def _refuse_several(result: list[Any]) -> None:
    given = Counter(str(one.get("from_name")) for one in result if isinstance(one, Mapping))
    for name in _ONE_OF_EACH:
        if given[OURS.controls[name]] > 1:
            raise ValueError(f"{name} is answered {given[OURS.controls[name]]} times where once is asked")


def _rating(answered: Answered) -> dict[str, Any]:
    if answered.ticked or answered.boxes or answered.wrong or answered.none_of_the_above:
        raise ValueError("it marks attributes where a rating is asked")
    if not answered.rating:
        raise ValueError("it has no rating")
    if answered.rating not in _RATINGS:
        raise ValueError(f"“{answered.rating[:60]}” is none of the five answers")
    return {"rating": _RATINGS[answered.rating], "justification": answered.justification}


def _marks(answered: Answered, asked: Asked) -> dict[str, Any]:
    if answered.rating:
        raise ValueError("it has a rating where attributes are marked")
    found = answered.ticked | answered.boxes.keys() | answered.wrong.keys()
    if strange := sorted(found - asked.attributes.keys()):
        raise ValueError(f"“{strange[0][:60]}” is not among the attributes that the task asks")
    if answered.wrong:
        text = min(answered.wrong)
        raise ValueError(f"{text}: {answered.wrong[text]}")
    if answered.none_of_the_above not in _SAID_NONE:
        raise ValueError(f"“{answered.none_of_the_above[:60]}” is no answer to whether none of them is there")
    return {
        "ticked": [text for text in asked.attributes if text in found],
        "boxes": [
            {"attribute": text, **_fractions(numbers[start : start + 4])}
            for text in asked.attributes
            if (numbers := answered.boxes.get(text))
            for start in range(0, len(numbers), 4)
        ],
        "none_of_the_above": _SAID_NONE[answered.none_of_the_above],
    }


def _fractions(percent: list[float]) -> dict[str, float]:
    return {side: value / 100 for side, value in zip(_SIDES, percent, strict=True)}


def _said(error: DomainError, asked: Asked) -> str:
    """Return what is wrong, each attribute by its text."""
    said = []
    for name, message in (error.fields or {}).items():
        text = name.removeprefix("answer.boxes.")
        said.append(f"{text}: {message}" if text in asked.attributes else message)
    return " ".join(dict.fromkeys(said)) or error.message


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
