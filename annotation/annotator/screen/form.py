"""The answer of a plain form in the shape of the API's."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from django.http import QueryDict

from annotation.answers.questions.conditions import is_asked
from annotation.kinds.declaration import Kind
from annotation.kinds.questions import Question
from annotation.kinds.registry import kind_of
from annotation.models import Campaign

_NUMBER = re.compile(r"-?[0-9]{1,3}")
_WORD = re.compile(r"[0-9]{1,6}")


def posted_answer(posted: QueryDict, campaign: Campaign) -> dict[str, Any]:
    """Return what a form for a task of the campaign sends."""
    kind = kind_of(campaign)
    if not kind.about_attributes:
        return {"answers": _answers(posted, kind), "regions": {}}
    if kind.rates_attributes:
        rating = posted.get("rating", "")
        return {
            "rating": int(rating) if rating in {"1", "2", "3", "4", "5"} else None,
            "justification": posted.get("justification", ""),
        }
    return {
        "ticked": posted.getlist("ticked"),
        "boxes": [],
        "none_of_the_above": "none_of_the_above" in posted,
    }


def _answers(posted: QueryDict, kind: Kind) -> dict[str, Any]:
    """Return the answers to the questions that are asked: without scripts, a form shows all of them."""
    answers: dict[str, Any] = {}
    for question in kind.questions:
        prefix = f"answers.{question.name}"
        if question.each or question.type == "rank":
            read = _READ[question.type]
            names = [name for name in posted if name.startswith(f"{prefix}.")]
            values = {name.removeprefix(f"{prefix}."): read(question, posted.getlist(name)) for name in names}
            value: Any = {
                ref: value
                for ref, value in values.items()
                if value is not None and is_asked(kind, question, answers, ref)
            } or None
            if question.type == "rank" and value:
                value = competition_ranks(value)
        else:
            value = _READ[question.type](question, posted.getlist(prefix))
        if value is not None and (question.each or is_asked(kind, question, answers)):
            answers[question.name] = value
    return answers


def competition_ranks(places: Mapping[str, int]) -> dict[str, int]:
    """Return the ranks 1, 1, 3 … for places such as 1, 1, 2 or 2, 2, 5."""
    return {ref: 1 + sum(other < place for other in places.values()) for ref, place in places.items()}


def _number(_: Question, values: list[str]) -> int | None:
    return int(values[0]) if values and _NUMBER.fullmatch(values[0]) else None


def _text(_: Question, values: list[str]) -> str | None:
    return values[0] if values and values[0].strip() else None


def _choice(question: Question, values: list[str]) -> str | list[str] | None:
    if not values:
        return None
    return values if getattr(question, "several", False) else values[0]


def _words(_: Question, values: list[str]) -> list[int] | None:
    if values == ["none"]:
        return []
    # A value that is not a word of the text is refused when the answer is checked.
    return [int(value) if _WORD.fullmatch(value) else -1 for value in values] or None


_READ: dict[str, Callable[[Question, list[str]], Any]] = {
    "scale": _number,
    "choice": _choice,
    "compare": _choice,
    "rank": _number,
    "text": _text,
    "span": _words,
}
