"""The questions of a payload arranged for the template, with nothing that the payload lacks.

`{ref}` and `{name}` are placeholders in the parts that a browser copies for the stimuli of the next task.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from django.utils.translation import gettext as _

REF, NAME = "{ref}", "{name}"
# A pair of pictures is above up to this number of questions, and beside more.
_FEW = 2


@dataclass(frozen=True)
class Stimulus:
    """A picture or a text, and its name on the screen."""

    ref: str
    name: str
    image: Mapping[str, Any] | None = None
    text: str = ""


@dataclass(frozen=True)
class Option:
    """An answer to choose, and the key that chooses it."""

    value: str
    label: str
    key: str = ""
    checked: bool = False
    apart: bool = False


@dataclass(frozen=True)
class Row:
    """A stimulus to rank, and the places it can have."""

    stimulus: Stimulus
    places: tuple[Option, ...]


@dataclass(frozen=True)
class Part:
    """The unit of an answer: a question, or a question about one stimulus (`ref`)."""

    ref: str
    name: str  # of its controls
    id: str
    heading: str = ""
    options: tuple[Option, ...] = ()
    rows: tuple[Row, ...] = ()
    text: str = ""


@dataclass(frozen=True)
class Asked:
    """A question with its parts."""

    declared: Mapping[str, Any]
    parts: tuple[Part, ...]
    blank: Part
    # Where it depends on another: the words of that question and of its answers, read where no script hides it.
    after_label: str = ""
    after_answers: tuple[str, ...] = ()


@dataclass(frozen=True)
class QuestionScreen:
    """Stimuli and questions of one task."""

    stimuli: tuple[Stimulus, ...]
    asked: tuple[Asked, ...]
    prompt: str
    # The questions beside the pictures, or below them.
    arrangement: str
    shapes: tuple[str, ...]
    blank: Stimulus
    pictured: bool
    place_needed: bool
    compares: bool

    @classmethod
    def of(cls, payload: Mapping[str, Any], answer: Mapping[str, Any]) -> Self:
        """Arrange the payload of a task, with `answer` filled in."""
        declared = payload["questions"]
        stimuli = _stimuli(payload["stimuli"])
        words = (payload.get("prompt") or stimuli[0].text).split()
        answers = answer.get("answers") or {}
        pictured = any(stimulus.image for stimulus in stimuli)
        regions = [question["region"] for question in declared if question.get("region")]
        few = payload["layout"] == "side_by_side" and len(declared) <= _FEW
        return cls(
            stimuli=stimuli,
            asked=tuple(
                _QuestionParts(question, stimuli, words, declared).asked(answers) for question in declared
            ),
            prompt=payload.get("prompt") or "",
            arrangement="below" if few and not any(question["each"] for question in declared) else "beside",
            shapes=tuple(sorted({region["shape"] for region in regions})),
            blank=Stimulus(REF, NAME, {"url": "", "width": 1, "height": 1} if pictured else None),
            pictured=pictured,
            place_needed=any(region["required"] for region in regions),
            compares=any(question["type"] == "compare" for question in declared),
        )


def _stimuli(shown: Sequence[Mapping[str, Any]]) -> tuple[Stimulus, ...]:
    return tuple(
        Stimulus(
            stimulus["ref"],
            (_("Picture %(number)s") if stimulus.get("image") else _("Text %(number)s")) % {"number": number},
            stimulus.get("image"),
            stimulus.get("text") or "",
        )
        for number, stimulus in enumerate(shown, start=1)
    )


@dataclass(frozen=True)
class _QuestionParts:
    """A question of the payload beside what it is asked about."""

    declared: Mapping[str, Any]
    stimuli: tuple[Stimulus, ...]
    words: Sequence[str]
    others: Sequence[Mapping[str, Any]]

    def asked(self, answers: Mapping[str, Any]) -> Asked:
        value = answers.get(self.declared["name"])
        given = value if isinstance(value, Mapping) else {}
        if self.declared["each"]:
            parts = tuple(self._part(stimulus, given.get(stimulus.ref)) for stimulus in self.stimuli)
        else:
            parts = (self._part(None, value),)
        label, chosen = self._condition()
        return Asked(self.declared, parts, self._part(Stimulus(REF, NAME), None), label, chosen)

    def _part(self, stimulus: Stimulus | None, value: Any) -> Part:
        name = self.declared["name"]
        ref = stimulus.ref if stimulus else ""
        blank = ref == REF
        return Part(
            ref=ref,
            name=f"answers.{name}.{ref}" if self.declared["each"] else f"answers.{name}",
            id=f"asked-{name}-{ref}" if self.declared["each"] else f"asked-{name}",
            heading=stimulus.name if stimulus else "",
            options=self._options(value),
            rows=self._rows(value, (Stimulus(REF, NAME),) if blank else self.stimuli),
            text=value if self.declared["type"] == "text" and isinstance(value, str) else "",
        )

    def _options(self, value: Any) -> tuple[Option, ...]:
        chosen = value if isinstance(value, list) else [value]
        match self.declared["type"]:
            case "scale":
                return tuple(
                    Option(str(point["code"]), point["label"], key, point["code"] in chosen, point["apart"])
                    for point, key in zip(
                        self.declared["points"], _scale_keys(self.declared["points"]), strict=True
                    )
                )
            case "choice":
                return tuple(
                    Option(one["code"], one["label"], str(key) if key < 10 else "", one["code"] in chosen)
                    for key, one in enumerate(self.declared["answers"], start=1)
                )
            case "compare":
                return self._compared(value)
            case "span":
                words = [
                    Option(str(index), word, checked=index in chosen) for index, word in enumerate(self.words)
                ]
                none = self.declared["none"]
                return (*words, *([Option("none", none, "0", value == [])] if none else []))
        return ()

    def _compared(self, value: Any) -> tuple[Option, ...]:
        first, second = (
            Option(stimulus.ref, stimulus.name, str(key), value == stimulus.ref)
            for key, stimulus in enumerate(self.stimuli, start=1)
        )
        tie = self.declared["tie"]
        return (first, *([Option("tie", tie, "0", value == "tie")] if tie else []), second)

    def _rows(self, value: Any, stimuli: tuple[Stimulus, ...]) -> tuple[Row, ...]:
        if self.declared["type"] != "rank":
            return ()
        ranks = value if isinstance(value, Mapping) else {}
        return tuple(
            Row(
                stimulus,
                tuple(
                    Option(str(place), str(place), str(place), ranks.get(stimulus.ref) == place)
                    for place in range(1, len(self.stimuli) + 1)
                ),
            )
            for stimulus in stimuli
        )

    def _condition(self) -> tuple[str, tuple[str, ...]]:
        when = self.declared["when"]
        if when is None:
            return "", ()
        earlier = next(question for question in self.others if question["name"] == when["question"])
        options = _QuestionParts(earlier, self.stimuli, self.words, self.others)._options(None)
        names = {option.value: option.label for option in options}
        return earlier["label"], tuple(names[str(answer)] for answer in when["answers"])


def _scale_keys(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the key of each point: its number where all have one digit, else its place."""
    codes = [point["code"] for point in points]
    if all(0 <= code <= 9 for code in codes):
        return [str(code) for code in codes]
    return [str(place) if place < 10 else "" for place in range(1, len(codes) + 1)]
