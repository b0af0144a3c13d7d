"""A task payload arranged for the template, with nothing that the payload lacks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from django.utils.safestring import SafeString

from annotation.annotator.screen.questions import QuestionScreen
from annotation.campaigns.instruments.markup import as_html
from annotation.kinds.registry import RATING_ORDER


@dataclass(frozen=True)
class Choice:
    """One of the five answers of a rating."""

    value: str
    label: str
    checked: bool


@dataclass(frozen=True)
class Tick:
    """One attribute of a marking task, numbered as its key and its colour."""

    number: int
    ref: str
    text: str
    checked: bool


@dataclass(frozen=True)
class Screen:
    """The template's data besides the payload itself."""

    rating: bool
    choices: tuple[Choice, ...]
    ticks: tuple[Tick, ...]
    none_checked: bool
    justification: str
    guidelines: SafeString
    # Of kinds that are declared by their questions.
    questions: QuestionScreen | None = None
    # The template that the browser copies for each attribute of the next task.
    blank: Tick = Tick(1, "", "", False)

    @classmethod
    def of(cls, payload: Mapping[str, Any], *, answer: Mapping[str, Any] | None = None) -> Self:
        """Arrange `payload`; `answer` (just posted) has priority over the earlier answer."""
        current_answer = answer or payload.get("answer") or {}
        instrument = payload["instrument"]
        labels = instrument.get("labels") or {}
        ticked = set(current_answer.get("ticked") or ())
        questions = QuestionScreen.of(payload, current_answer) if "questions" in payload else None
        return cls(
            rating=bool(labels) and questions is None,
            choices=tuple(
                Choice(value, labels[value], str(current_answer.get("rating")) == value)
                for value in RATING_ORDER
                if value in labels
            ),
            ticks=tuple(
                Tick(number, attribute["ref"], attribute["text"], attribute["ref"] in ticked)
                for number, attribute in enumerate(payload.get("attributes", ()), start=1)
            ),
            none_checked=bool(current_answer.get("none_of_the_above")),
            justification=current_answer.get("justification") or "",
            guidelines=as_html(instrument["guidelines"], labels.values()),
            questions=questions,
        )

    @property
    def marking(self) -> bool:
        """Whether attributes are ticked and drawn around."""
        return not self.rating and self.questions is None

    @property
    def pictured(self) -> bool:
        """Whether pictures are shown, which can be blurred and reported."""
        return self.questions.pictured if self.questions else not self.rating

    @property
    def drawn(self) -> tuple[str, ...]:
        """The shapes that can be drawn on a picture: boxes, points."""
        return self.questions.shapes if self.questions else () if self.rating else ("box",)
