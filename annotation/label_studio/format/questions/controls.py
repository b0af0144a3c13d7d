"""The controls in Label Studio that ask a kind's questions: their names, and the choices of each.

Controls and answers are numbered in the declared order: annotators see these names, and the name of a question or the
code of an answer could reveal what must stay blind.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from annotation.kinds.declaration import Kind
from annotation.kinds.questions import ChoiceQuestion, CompareQuestion, Question, RankQuestion, ScaleQuestion
from annotation.kinds.stimuli import Stimuli

TEXT = "text"  # the text that is read beside images
ALL = "all"  # a heading to which questions about the whole screen refer if nothing else is always shown
INDEX = "{{idx}}"  # in Label Studio's Repeater, the number of what is repeated
LANGUAGE = "en"  # a project in Label Studio has one language
Role = Literal["answer", "none", "where"]
# Characters that XML cannot contain.
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class ControlAnswer:
    """One possible answer: the name under which it is returned, and its words."""

    alias: str
    code: int | str
    words: str


@dataclass(frozen=True)
class Control:
    """A control. It contains a part of the answer to a question about a stimulus (None: the screen)."""

    name: str
    shows: str  # the name of the stimulus shown there
    question: Question
    ref: str | None
    role: Role = "answer"


def words_of(text: str) -> str:
    """Return a text for the attribute of a tag: Label Studio would replace `$name` by a field of the task."""
    return _NOT_IN_XML.sub("", text).replace("$", "\u2060$\u2060")


def label_of(question: Question) -> str:
    """Return the text of the question."""
    return words_of(question.label[LANGUAGE])


def noun_of(stimuli: Stimuli) -> str:
    """Return the noun for one of several stimuli."""
    return "Picture" if stimuli.medium == "image" else "Text"


def shown_name(index: int | str) -> str:
    """Return the name of the stimulus at a place, counted from 0."""
    return f"s{index}"


def repeats(stimuli: Stimuli) -> bool:
    """Whether screens may show different numbers of stimuli: the interface then repeats the part for one stimulus."""
    return stimuli.least < stimuli.most


def has_heading(kind: Kind) -> bool:
    """Whether the screen needs a heading to which questions can refer."""
    asked = any(not about_each(question) for question in kind.questions)
    return repeats(kind.stimuli) and not kind.stimuli.prompt_shown and asked


def asked_of(kind: Kind, question: Question, index: int | str | None) -> str:
    """Return the name of the object to which a question refers there."""
    if question.type == "span":
        return marked_text(kind)
    if index is None and repeats(kind.stimuli):
        return ALL if has_heading(kind) else TEXT
    return shown_name(index or 0)


def marked_text(kind: Kind) -> str:
    """Return the name of the text in which words can be marked."""
    return TEXT if kind.stimuli.prompt_shown else shown_name(0)


def about_each(question: Question) -> bool:
    """Whether the question has a control beside each stimulus."""
    return question.each or isinstance(question, RankQuestion)


def control_name(kind: Kind, question: Question, index: int | str | None, role: Role = "answer") -> str:
    """Return the name of a control; `index` is the index of the stimulus beside it, if there is one."""
    number = [one.name for one in kind.questions].index(question.name) + 1
    name = f"q{number}" if index is None else f"q{number}_{shown_name(index)}"
    return name if role == "answer" else f"{name}_{role}"


def controls_of(kind: Kind, refs: Sequence[str]) -> dict[str, Control]:
    """Return the controls of a screen that shows these stimuli, by name."""
    return {control.name: control for question in kind.questions for control in _of(kind, question, refs)}


def _of(kind: Kind, question: Question, refs: Sequence[str]) -> Iterator[Control]:
    places: list[tuple[int | None, str | None]] = (
        list(enumerate(refs)) if about_each(question) else [(None, None)]
    )
    for index, ref in places:
        shows = asked_of(kind, question, index)
        for role in _roles(question):
            yield Control(control_name(kind, question, index, role), shows, question, ref, role)


def _roles(question: Question) -> list[Role]:
    roles: list[Role] = ["answer"]
    if question.type == "span" and question.none is not None:
        roles.append("none")
    if question.region is not None:
        roles.append("where")
    return roles


def offered(kind: Kind, question: Question) -> list[ControlAnswer]:
    """Return the choices in the order shown; empty for a question without choices."""
    answers = [(code, words_of(text)) for code, text in _answers(kind, question)]
    prefix = "a"
    # An alias that equals another answer's words would be read as that answer.
    while any(words.startswith(prefix) and words[len(prefix) :].isdigit() for _, words in answers):
        prefix += "a"
    return [
        ControlAnswer(f"{prefix}{number}", code, words)
        for number, (code, words) in enumerate(answers, start=1)
    ]


def _answers(kind: Kind, question: Question) -> Iterable[tuple[int | str, str]]:
    match question:
        case ScaleQuestion():
            return [(point.code, point.label[LANGUAGE]) for point in question.points]
        case ChoiceQuestion():
            return [(answer.code, answer.label[LANGUAGE]) for answer in question.answers]
        case CompareQuestion():
            noun = noun_of(kind.stimuli)
            tie = [] if question.tie is None else [("tie", question.tie[LANGUAGE])]
            return [(0, f"{noun} 1"), (1, f"{noun} 2"), *tie]
        case RankQuestion():
            return [(place, str(place)) for place in range(1, kind.stimuli.most + 1)]
        case _:
            return []
