"""Checking an answer against the questions of its kind and the stimuli of its screen."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.answers.questions.regions import with_regions
from annotation.answers.questions.values import (
    MISSING,
    JudgementValue,
    Place,
    ScreenQuestions,
    WrongValueError,
    judgements_of,
    value_of,
)
from annotation.answers.text import is_text
from annotation.kinds.declaration import Kind
from annotation.kinds.questions import Question
from foundation.errors import DomainError

_FIELDS = {"answers", "regions"}
_NOT_ASKED = "This question is not asked after the answers that you gave."
_SEVERAL_WRONG = "Please look at the marked questions again."
_NO_QUESTION = "There is no such question on this screen."
_NO_STIMULUS = "The word is not on this screen."
_ABSENT = object()


@dataclass(frozen=True)
class QuestionAnswers:
    """A checked answer: its judgements, by question, stimulus and code in the order declared and shown."""

    judgements: tuple[JudgementValue, ...] = ()

    def as_json(self, kind: Kind) -> dict[str, Any]:
        """Return the answer in the shape in which clients send it."""
        answers: dict[str, Any] = {}
        regions: dict[str, list[dict[str, Any]]] = {}
        for question in kind.questions:
            own = [judgement for judgement in self.judgements if judgement.question == question.name]
            if not own:
                continue
            if question.each:
                of_stimuli = defaultdict(list)
                for judgement in own:
                    of_stimuli[judgement.stimulus].append(judgement)
                answers[question.name] = {ref: value_of(question, about) for ref, about in of_stimuli.items()}
            else:
                answers[question.name] = value_of(question, own)
            if places := [_place(place, judgement) for judgement in own for place in judgement.places]:
                regions[question.name] = places
        return {"answers": answers, "regions": regions}


def checked(data: Mapping[str, Any], screen: ScreenQuestions) -> QuestionAnswers:
    """Return the answer that `data` gives; DomainError `answer_invalid` names each wrong field."""
    answers, regions = data.get("answers", {}), data.get("regions", {})
    wrong = {_shown(name): "There is no such field in this answer." for name in sorted(data.keys() - _FIELDS)}
    for name, part in (("answers", answers), ("regions", regions)):
        if not isinstance(part, Mapping):
            wrong[name] = "Give an object with a field for each question."
    judgements: list[JudgementValue] = []
    if not wrong:
        reading = _Reading(screen, answers)
        judgements = with_regions(reading.judgements(), regions, screen, reading.wrong)
        wrong = reading.wrong
    if wrong:
        fields = {f"answer.{name}": message for name, message in wrong.items()}
        messages = set(wrong.values())
        raise DomainError(
            "answer_invalid", messages.pop() if len(messages) == 1 else _SEVERAL_WRONG, fields=fields
        )
    return QuestionAnswers(tuple(judgements))


@dataclass
class _Reading:
    """Reads the answers of one screen question by question: later ones depend on earlier ones."""

    screen: ScreenQuestions
    answers: Mapping[str, Any]
    wrong: dict[str, str] = field(default_factory=dict)
    # The answers to each question about each stimulus (None: the screen), as conditions name them.
    chosen: dict[tuple[str, str | None], set[int | str]] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)  # questions whose answer is wrong

    def judgements(self) -> list[JudgementValue]:
        questions = self.screen.kind.questions
        names = {question.name for question in questions}
        self.wrong |= {
            f"answers.{_shown(name)}": _NO_QUESTION for name in sorted(self.answers.keys() - names)
        }
        return [judgement for question in questions for judgement in self._of(question)]

    def _of(self, question: Question) -> Iterator[JudgementValue]:
        if question.when is not None and question.when.question in self.unread:
            self.unread.add(question.name)  # it is unknown whether the question is asked
            return
        for ref, raw in self._values(question):
            yield from self._one(question, ref, raw)

    def _values(self, question: Question) -> Sequence[tuple[str | None, object]]:
        """Return the value sent for each place of the question on the screen."""
        raw = self.answers.get(question.name, _ABSENT)
        if not question.each:
            return [(None, raw)]
        if raw is _ABSENT:
            raw = {}
        if not isinstance(raw, Mapping):
            self._refuse(question, None, "Give an answer for each picture or text.")
            return []
        for name in sorted(raw.keys() - set(self.screen.refs)):
            self._refuse(question, name, _NO_STIMULUS)
        return [(ref, raw.get(ref, _ABSENT)) for ref in self.screen.refs]

    def _one(self, question: Question, ref: str | None, raw: object) -> list[JudgementValue]:
        asked = self._is_asked(question, ref)
        if raw is _ABSENT:
            if asked and question.required:
                self._refuse(question, ref, MISSING[question.type])
            return []
        if not asked:
            self._refuse(question, ref, _NOT_ASKED)
            return []
        try:
            judgements = judgements_of(question, raw, self.screen, stimulus=ref)
        except WrongValueError as error:
            self._refuse(question, ref, str(error))
            return []
        self.chosen[question.name, ref] = {_answer(judgement, self.screen) for judgement in judgements}
        return judgements

    def _is_asked(self, question: Question, ref: str | None) -> bool:
        when = question.when
        if when is None:
            return True
        earlier = self.screen.kind.question(when.question)
        chosen = self.chosen.get((when.question, ref if earlier.each else None), set())
        return not chosen.isdisjoint(when.answers)

    def _refuse(self, question: Question, ref: str | None, message: str) -> None:
        self.unread.add(question.name)
        place = question.name if ref is None else f"{question.name}.{_shown(ref)}"
        self.wrong[f"answers.{place}"] = message


def _answer(judgement: JudgementValue, screen: ScreenQuestions) -> int | str:
    """Return the answer in the form of conditions: for a comparison, the place of the better stimulus."""
    if judgement.present is not None and judgement.stimulus is not None:
        return screen.refs.index(judgement.stimulus)
    values = (judgement.rating, judgement.code, judgement.rank, judgement.text)
    return next(value for value in values if value is not None)


def _place(place: Place, judgement: JudgementValue) -> dict[str, Any]:
    sides = {name: value for name, value in place._asdict().items() if value is not None}
    return {"stimulus": judgement.stimulus or "s1", **sides}


def _shown(name: object) -> str:
    """Return a name that a client made up, short enough to repeat and fit to be sent."""
    text = str(name)[:40]
    return text if is_text(text) else "?"
