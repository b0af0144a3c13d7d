"""Converting an annotation in Label Studio to an answer to our task, or to the reason why it is not an answer.

The rules are those of our own pages (`annotation.answers.validation`); this module only converts the format.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.answers.questions.stimuli import PROMPT, refs_of
from annotation.answers.questions.validation import checked
from annotation.answers.questions.values import ScreenQuestions
from annotation.answers.validation import Answer
from annotation.kinds.registry import kind_of
from annotation.label_studio.base import reasons
from annotation.label_studio.format.interface import NO, NONE, SOME, YES
from annotation.label_studio.format.names import OURS
from annotation.label_studio.format.questions.data import marked
from annotation.label_studio.format.questions.reader import read_questions
from annotation.label_studio.format.regions import Answered, read_results
from annotation.models import Campaign
from foundation.errors import DomainError

_LONGEST = 300
_SIDES = ("x", "y", "width", "height")
_ONE_OF_EACH = ("rating", "justification", "none_of_the_above")
_SAID_NONE = {"": False, NO: False, SOME: False, YES: True, NONE: True}
_RATINGS = {str(value): value for value in range(1, 6)}


class Unreadable(ValueError):
    """An annotation that is not an answer to the task; the message states why."""


@dataclass(frozen=True)
class DeclaredScreen:
    """The questions of a kind about the stimuli of one task."""

    questions: ScreenQuestions
    stimuli: Mapping[str, int]  # their keys by their names on the screen
    text: str = ""  # the text in which words can be marked

    @classmethod
    def of(cls, campaign: Campaign, stimuli: Sequence[tuple[int, str]]) -> "DeclaredScreen":
        """Return the screen of these stimuli: the key and the text of each, in the order shown."""
        kind = kind_of(campaign)
        refs = refs_of(kind, len(stimuli))
        text = marked(kind, next((text for _, text in reversed(stimuli) if text), ""))
        questions = ScreenQuestions(
            kind=kind,
            refs=tuple(ref for ref in refs if ref != PROMPT),
            words=len(text.split()),
            regions_required=campaign.boxes_required,
        )
        return cls(questions, {ref: pk for ref, (pk, _) in zip(refs, stimuli, strict=True)}, text)


@dataclass(frozen=True)
class Question:
    """The question of a task: its attributes by their texts, in display order, or the questions of a declared kind."""

    rates: bool
    boxes_required: bool
    attributes: Mapping[str, int]
    screen: DeclaredScreen | None = None

    @classmethod
    def of(
        cls, campaign: Campaign, attributes: Mapping[str, int], stimuli: Sequence[tuple[int, str]] = ()
    ) -> "Question":
        kind = kind_of(campaign)
        screen = None if kind.about_attributes else DeclaredScreen.of(campaign, stimuli)
        return cls(kind.rates_attributes, campaign.boxes_required, attributes, screen)


def read_answer(result: Any, question: Question) -> Answer:
    """Return the answer in a mirrored result; raises Unreadable."""
    if missing := reasons.why_no_result(result):
        raise Unreadable(missing)
    if question.screen is not None:
        return _answers(result, question.screen)
    try:
        _refuse_several(result)
        answered = read_results(result, OURS)
        data = _rating(answered) if question.rates else _marks(answered, question)
    except ValueError as error:
        raise Unreadable(_short(str(error))) from error
    try:
        if question.rates:
            return Answer.rating_of(data)
        return Answer.marks_of(data, question.attributes, boxes_required=question.boxes_required)
    except DomainError as error:
        raise Unreadable(_short(_said(error, question))) from error


def _answers(result: list[Any], screen: DeclaredScreen) -> Answer:
    try:
        data = read_questions(result, screen.questions, screen.text)
        return Answer(questions=checked(data, screen.questions))
    except ValueError as error:
        raise Unreadable(_short(str(error))) from error
    except DomainError as error:
        raise Unreadable(_short(_said_of_questions(error, screen.questions))) from error


def _said_of_questions(error: DomainError, questions: ScreenQuestions) -> str:
    """Return the problem, with the name of each question and, if there are several, the number of each stimulus."""
    sentences = []
    for name, message in (error.fields or {}).items():
        _, _, asked, *about = [*name.split("."), "", ""]
        place = f" {questions.refs.index(about[0]) + 1}" if about[0] in questions.refs else ""
        noun = f", {questions.kind.stimuli.medium}{place}" if place else ""
        sentences.append(f"{asked}{noun}: {message}")
    return " ".join(dict.fromkeys(sentences)) or error.message


def _refuse_several(result: list[Any]) -> None:
    control_counts = Counter(str(region.get("from_name")) for region in result if isinstance(region, Mapping))
    for name in _ONE_OF_EACH:
        if control_counts[OURS.controls[name]] > 1:
            raise ValueError(
                f"{name} is answered {control_counts[OURS.controls[name]]} times, but is asked only once"
            )


def _rating(answered: Answered) -> dict[str, Any]:
    if answered.ticked or answered.boxes or answered.wrong or answered.none_of_the_above:
        raise ValueError("the annotation marks attributes, but the task asks for a rating")
    if not answered.rating:
        raise ValueError("the annotation has no rating")
    if answered.rating not in _RATINGS:
        raise ValueError(f"“{answered.rating[:60]}” is not one of the five answers")
    return {"rating": _RATINGS[answered.rating], "justification": answered.justification}


def _marks(answered: Answered, question: Question) -> dict[str, Any]:
    if answered.rating:
        raise ValueError("the annotation has a rating, but the task asks for marks")
    marked_attributes = answered.ticked | answered.boxes.keys() | answered.wrong.keys()
    if strange := sorted(marked_attributes - question.attributes.keys()):
        raise ValueError(f"“{strange[0][:60]}” is not one of the attributes that the task asks about")
    if answered.wrong:
        text = min(answered.wrong)
        raise ValueError(f"{text}: {answered.wrong[text]}")
    if answered.none_of_the_above not in _SAID_NONE:
        raise ValueError(f"“{answered.none_of_the_above[:60]}” is not a valid answer for “none of the above”")
    return {
        "ticked": [text for text in question.attributes if text in marked_attributes],
        "boxes": [
            {"attribute": text, **_fractions(numbers[start : start + 4])}
            for text in question.attributes
            if (numbers := answered.boxes.get(text))
            for start in range(0, len(numbers), 4)
        ],
        "none_of_the_above": _SAID_NONE[answered.none_of_the_above],
    }


def _fractions(percent: list[float]) -> dict[str, float]:
    return {side: value / 100 for side, value in zip(_SIDES, percent, strict=True)}


def _said(error: DomainError, question: Question) -> str:
    """Return the problem, with the text of each attribute."""
    sentences = []
    for name, message in (error.fields or {}).items():
        text = name.removeprefix("answer.boxes.")
        sentences.append(f"{text}: {message}" if text in question.attributes else message)
    return " ".join(dict.fromkeys(sentences)) or error.message


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
