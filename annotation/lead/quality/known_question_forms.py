"""The form of the right answers on a screen of declared questions, and these answers in words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms

from annotation.answers.questions.known_answers import Part, answers_of, part_of
from annotation.campaigns.known_tasks import MAX_EXPLANATION
from annotation.kinds.declaration import Kind
from annotation.kinds.questions import ChoiceQuestion, CompareQuestion, Question, ScaleQuestion
from annotation.models import KnownAnswer
from catalog.models import Attribute

_ANY = "Tick every answer that counts as right. If you tick none, the question is not scored."
_EXACTLY = (
    "A response is right if it contains exactly the answers that you tick. If you tick none, the question "
    "is not scored."
)
_PLACES = (
    "The right place of each stimulus, in the order shown, such as {}. If empty, the question is not scored."
)


@dataclass(frozen=True)
class PartRow:
    """The fields of one question, or of one question about one stimulus."""

    part: Part
    answer: forms.BoundField
    explanation: forms.BoundField


class QuestionAnswersForm(forms.Form):
    """The right answers to the questions of a screen."""

    def __init__(
        self, *args: Any, kind: Kind, parts: Sequence[Part], refs: Sequence[str], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.kind, self.parts, self.refs = kind, parts, refs
        for part in parts:
            question = kind.question(part.question)
            label = part_label(kind, part)
            self.fields[f"answer_{part.name}"] = _field(kind, question, label, refs)
            self.fields[f"explanation_{part.name}"] = forms.CharField(
                required=False,
                max_length=MAX_EXPLANATION,
                label=f"Explanation for “{label}”",
                widget=forms.TextInput(attrs={"autocomplete": "off"}),
            )

    def rows(self) -> list[PartRow]:
        return [
            PartRow(part, self[f"answer_{part.name}"], self[f"explanation_{part.name}"])
            for part in self.parts
        ]

    def chosen_attributes(self) -> list[Attribute]:
        return []

    def answers(self) -> dict[Part, object]:
        """Return the right answers in the format of the verb, without parts that are not scored."""
        given = {part: self.cleaned_data[f"answer_{part.name}"] for part in self.parts}
        return {part: self._right(part, value) for part, value in given.items() if value}

    def explanations(self) -> dict[Part, str]:
        return {part: text for part in self.parts if (text := self.cleaned_data[f"explanation_{part.name}"])}

    def _right(self, part: Part, value: Any) -> object:
        question = self.kind.question(part.question)
        if question.type == "rank":
            places = value.replace(",", " ").split()
            ranks = {
                ref: int(place) if place.isdecimal() else place
                for ref, place in zip(self.refs, places, strict=False)
            }
            return ranks if len(places) == len(self.refs) else {}
        return [int(code) if question.type == "scale" else code for code in value]

    def initial_of(self, known_answers: Iterable[KnownAnswer]) -> dict[str, Any]:
        """Return the values of the known answers."""
        initial: dict[str, Any] = {}
        for known_answer in known_answers:
            name = part_of(known_answer).name
            initial[f"answer_{name}"] = self._shown(known_answer.question, known_answer.accepted)
            initial[f"explanation_{name}"] = known_answer.explanation
        return initial

    def initial_from(self, answers: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values for a right answer, given in the format of clients."""
        initial: dict[str, Any] = {}
        for part in self.parts:
            value = answers.get(part.question)
            if part.ref and isinstance(value, Mapping):
                value = value.get(part.ref)
            if value is None:
                continue
            if isinstance(value, Mapping):
                value = [value[ref] for ref in self.refs]
            right = value if isinstance(value, list) else [value]
            initial[f"answer_{part.name}"] = self._shown(part.question, right)
        return initial

    def _shown(self, question: str, accepted: Sequence[int | str]) -> str | list[str]:
        words = [str(one) for one in accepted]
        return " ".join(words) if self.kind.question(question).type == "rank" else words


def part_label(kind: Kind, part: Part) -> str:
    """Return a question as leads read it, with the stimulus it is about."""
    label = kind.question(part.question).label["en"]
    return f"{label} ({stimulus_name(kind, part.ref)})" if part.ref else label


def stimulus_name(kind: Kind, ref: str) -> str:
    """Return the name of a stimulus on the screen."""
    return f"{'Picture' if kind.stimuli.medium == 'image' else 'Text'} {ref.removeprefix('s')}"


def right_words(kind: Kind, part: Part, accepted: Sequence[int | str]) -> str:
    """Return the right answers in words."""
    question = kind.question(part.question)
    if question.type == "rank":
        places = [f"{stimulus_name(kind, f's{number}')}: {place}" for number, place in enumerate(accepted, 1)]
        return ", ".join(places)
    labels = dict(_choices(kind, question, ("s1", "s2")))
    join = " and " if getattr(question, "several", False) else " or "
    return join.join(labels.get(str(code), str(code)) for code in accepted)


def _field(kind: Kind, question: Question, label: str, refs: Sequence[str]) -> forms.Field:
    when = question.when
    asked = (
        ""
        if when is None
        else f"Asked only after some answers to “{kind.question(when.question).label['en']}”. "
    )
    if question.type == "rank":
        example = " ".join(str(place) for place in (2, 1, *range(3, len(refs) + 1)))
        return forms.CharField(
            required=False,
            max_length=40,
            label=label,
            help_text=asked + _PLACES.format(example),
            widget=forms.TextInput(attrs={"autocomplete": "off"}),
        )
    several = isinstance(question, ChoiceQuestion) and question.several
    return forms.MultipleChoiceField(
        choices=_choices(kind, question, refs),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        label=label,
        help_text=asked + (_EXACTLY if several else _ANY),
    )


def _choices(kind: Kind, question: Question, refs: Sequence[str]) -> list[tuple[str, str]]:
    if isinstance(question, ScaleQuestion):
        return [(str(point.code), point.label["en"]) for point in question.points]
    if isinstance(question, ChoiceQuestion):
        return [(answer.code, answer.label["en"]) for answer in question.answers]
    if isinstance(question, CompareQuestion):
        tie = question.tie["en"] if question.tie is not None else ""
        names = {ref: stimulus_name(kind, ref) for ref in refs} | {"tie": tie}
        return [(str(code), names[str(code)]) for code in answers_of(question, refs)]
    return []
