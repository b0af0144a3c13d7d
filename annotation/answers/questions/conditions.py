"""When a question is asked: after which answers to the ones before it."""

from collections.abc import Mapping
from typing import Any

from annotation.kinds.declaration import Kind
from annotation.kinds.questions import Question


def is_asked(kind: Kind, question: Question, answers: Mapping[str, Any], ref: str = "") -> bool:
    """Return whether a question is asked (of a stimulus) after `answers`, in the shape in which clients send them."""
    if question.when is None:
        return True
    earlier = kind.question(question.when.question)
    value = answers.get(earlier.name)
    if earlier.each:
        value = value.get(ref) if value else None
    if earlier.type == "compare":
        value = {"s1": 0, "s2": 1}.get(str(value), value)
    chosen_codes = value if isinstance(value, list) else [value]
    return any(code in question.when.answers for code in chosen_codes)
