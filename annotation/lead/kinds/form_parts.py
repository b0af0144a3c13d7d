"""The parts of the form of a kind, as its page shows them."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.forms import BoundField

from foundation.parameters import Declaration


@dataclass(frozen=True)
class Issue:
    """An error, for the list above the form."""

    anchor: str
    label: str
    text: str


@dataclass(frozen=True)
class FormRow:
    """A point, an answer or a rule: its fields, and the labels of its buttons."""

    path: str
    noun: str
    number: int
    fields: tuple[BoundField, ...]
    errors: Sequence[str]
    is_last: bool


@dataclass(frozen=True)
class RowList:
    """The rows of one list, and whether another row can be added."""

    path: str
    declared: Declaration
    noun: str
    rows: tuple[FormRow, ...]
    full: bool
    errors: Sequence[str]


@dataclass(frozen=True)
class QuestionCard:
    """A question: its text, its answers, its condition, and its region."""

    path: str
    number: int
    title: str
    type: Declaration
    hidden: tuple[BoundField, ...]
    texts: tuple[BoundField, ...]
    rows: RowList | None
    options: tuple[BoundField, ...]
    repetition: tuple[BoundField, ...]
    when: tuple[BoundField, ...]
    place: tuple[BoundField, ...]
    errors: Sequence[str]
    is_last: bool
