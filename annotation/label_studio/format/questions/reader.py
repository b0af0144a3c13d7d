"""Reading the answers to a screen's questions from an annotation of Label Studio, in the format of clients."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.answers.questions.conditions import is_asked
from annotation.answers.questions.values import ScreenQuestions
from annotation.kinds.questions import (
    ChoiceQuestion,
    CompareQuestion,
    Question,
    RankQuestion,
    SpanQuestion,
    TextQuestion,
)
from annotation.label_studio.format.questions.controls import Control, controls_of, offered
from annotation.label_studio.format.regions import number_of, rectangle_of, texts_of

_Key = tuple[str, str | None]  # a question, and the stimulus it was asked of
_SIDES = ("x", "y", "width", "height")


def read_questions(results: Sequence[Any], screen: ScreenQuestions, text: str) -> dict[str, Any]:
    """Return answers and regions; `text` is the text in which words can be marked. Raises ValueError.

    A question hidden by its condition is left out: Label Studio may keep earlier answers to it.
    """
    reader = _ScreenReader(screen, text)
    controls = controls_of(screen.kind, screen.refs)
    for result in results:
        if not isinstance(result, Mapping) or not isinstance(result.get("value", {}), Mapping):
            raise ValueError("a result is not an object with a value")
        if result.get("type") == "relation":
            continue
        name = str(result.get("from_name"))
        if name not in controls:
            raise ValueError(f"“{name[:60]}” is not a control of this screen")
        control = controls[name]
        if result.get("to_name", control.shows) != control.shows:
            raise ValueError(f"{control.question.name}: the answer is about something that was not asked")
        try:
            reader.take(control, result)
        except ValueError as error:
            raise ValueError(f"{control.question.name}: {error}") from error
    return reader.answer()


@dataclass
class _ScreenReader:
    """Collects the contents of each control."""

    screen: ScreenQuestions
    text: str
    values: dict[_Key, Any] = field(default_factory=dict)
    chosen: dict[_Key, list[int | str]] = field(default_factory=dict)
    words: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    none: set[str] = field(default_factory=set)
    places: dict[_Key, list[dict[str, float]]] = field(default_factory=lambda: defaultdict(list))
    answered_controls: set[str] = field(default_factory=set)

    def take(self, control: Control, result: Mapping[str, Any]) -> None:
        value, question = result.get("value", {}), control.question
        if control.role == "where":
            self._place(control, result, value)
        elif control.role == "answer" and isinstance(question, SpanQuestion):
            self.words[question.name] |= words_at(value, self.text)
        elif control.name in self.answered_controls:
            raise ValueError("the question is answered more than once")
        elif control.role == "none":
            if texts_of(value, "choices"):
                self.none.add(question.name)
        elif isinstance(question, TextQuestion):
            self.values[question.name, control.ref] = "\n".join(texts_of(value, "text"))
        elif codes := self._codes(question, value):
            self.chosen[question.name, control.ref] = codes
        self.answered_controls.add(control.name)

    def _codes(self, question: Question, value: Mapping[str, Any]) -> list[int | str]:
        codes = {answer.alias: answer.code for answer in offered(self.screen.kind, question)}
        chosen = texts_of(value, "choices")
        if unknown := [alias for alias in chosen if alias not in codes]:
            raise ValueError(f"“{unknown[0][:60]}” is not one of its answers")
        several = isinstance(question, ChoiceQuestion) and question.several
        if len(chosen) > 1 and not several:
            raise ValueError(f"the question has {len(chosen)} answers, but only one is allowed")
        return [codes[alias] for alias in chosen]

    def _place(self, control: Control, result: Mapping[str, Any], value: Mapping[str, Any]) -> None:
        region = control.question.region
        assert region is not None  # only such a question has this control
        if region.shape == "box":
            if result.get("type") == "rectangle":
                return  # a rectangle and its label may be two results: the one without a label adds nothing
            sides = rectangle_of(result, value)
        else:
            sides = [number_of(value.get(name), name, "point") for name in _SIDES[:2]]
        self.places[control.question.name, control.ref].append(
            {name: side / 100 for name, side in zip(_SIDES, sides, strict=False)}
        )

    def answer(self) -> dict[str, Any]:
        """Return the answers to the visible questions, one by one: later questions depend on earlier ones."""
        answers: dict[str, Any] = {}
        regions: dict[str, list[dict[str, Any]]] = {}
        for question in self.screen.kind.questions:
            stimuli = self.screen.refs if question.each else ("",)
            refs = [ref for ref in stimuli if is_asked(self.screen.kind, question, answers, ref)]
            values = {ref: self._value(question, ref or None) for ref in refs}
            answered = {ref: value for ref, value in values.items() if value is not None}
            if answered:
                answers[question.name] = answered if question.each else answered[""]
            if places := self._places(question, refs):
                regions[question.name] = places
        return {"answers": answers, "regions": regions}

    def _value(self, question: Question, ref: str | None) -> Any:
        if isinstance(question, RankQuestion):
            return self._ranks(question)
        if isinstance(question, SpanQuestion):
            return self._span(question)
        if isinstance(question, TextQuestion):
            return self.values.get((question.name, ref))
        chosen = self.chosen.get((question.name, ref))
        if chosen is None:
            return None
        if isinstance(question, ChoiceQuestion) and question.several:
            return chosen
        code = chosen[0]
        return (
            self.screen.refs[code]
            if isinstance(question, CompareQuestion) and isinstance(code, int)
            else code
        )

    def _span(self, question: SpanQuestion) -> list[int] | None:
        marked = sorted(self.words[question.name])
        if question.name in self.none and marked:
            raise ValueError(f"{question.name}: the answer marks words and also says that there are none")
        return marked if marked or question.name in self.none else None

    def _ranks(self, question: RankQuestion) -> dict[str, int] | None:
        """Return places as in a competition: two that share the first place are followed by the third, whichever number
        was chosen for it."""
        chosen = {
            ref: codes[0] for ref in self.screen.refs if (codes := self.chosen.get((question.name, ref)))
        }
        places = {ref: place for ref, place in chosen.items() if isinstance(place, int)}
        return {
            ref: 1 + sum(better < place for better in places.values()) for ref, place in places.items()
        } or None

    def _places(self, question: Question, refs: Sequence[str]) -> list[dict[str, Any]]:
        """Return the places drawn for answers that need one; `refs` are the stimuli of the question."""
        region = question.region
        if region is None:
            return []
        return [
            {"stimulus": ref or self.screen.refs[0], **place}
            for ref in refs
            if not region.after
            or not set(self.chosen.get((question.name, ref or None), [])).isdisjoint(region.after)
            for place in self.places.get((question.name, ref or None), [])
        ]


def words_at(value: Mapping[str, Any], text: str) -> set[int]:
    """Return the words of a text, counted from 0, that a marked part of it touches.

    Browsers count some characters as two where Python counts one, so the part must contain the text that was marked;
    texts without such characters have equal counts in both.
    """
    start, end = (value.get(name) for name in ("start", "end"))
    if type(start) is not int or type(end) is not int or not 0 <= start < end:
        raise ValueError("a marked part of the text has no beginning and end")
    marked_text = value.get("text")
    for unit in (_in_halves, _in_characters):
        stretch = unit(text, start, end)
        if stretch is not None and marked_text in (None, text[stretch[0] : stretch[1]]):
            return _touched(text, *stretch)
    raise ValueError("words were marked in another text")


def _in_characters(text: str, start: int, end: int) -> tuple[int, int] | None:
    return (start, end) if end <= len(text) else None


def _in_halves(text: str, start: int, end: int) -> tuple[int, int] | None:
    halves = text.encode("utf-16-le", "surrogatepass")
    try:
        begin, length = (
            len(halves[2 * at : 2 * to].decode("utf-16-le")) for at, to in ((0, start), (start, end))
        )
    except UnicodeDecodeError:  # it begins or ends inside a character
        return None
    return (begin, begin + length) if 2 * end <= len(halves) else None


def _touched(text: str, start: int, end: int) -> set[int]:
    words, at = set(), 0
    for place, word in enumerate(text.split(" ")):
        if start < at + len(word) and end > at:
            words.add(place)
        at += len(word) + 1
    return words
