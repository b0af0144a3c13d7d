"""The questions of a probe set, and one question as a model reads it.

All of these are immutable values without unknown fields, because anybody may have written the file of a probe set.
"""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from foundation.errors import DomainError
from generation.prompts.placeholders import fill, places_of

_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
# The sentence of a completion, up to the bracket of its last word.
_COMPLETED = re.compile(r"(?:^|[.!?]\s+)([^.!?\[]*\{descriptor\}[^.!?\[]*)\[\{letter\}")
Side = Literal["plus", "minus"]
Order = Literal["published", "reversed"]
# The placeholders that the text of each kind of question may have, and those that it must have.
_PLACES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "choice": (("first", "second", "a_an", "A_an"), ("first", "second")),
    "complete": (("descriptor", "letter", "a_an", "A_an"), ("descriptor", "letter")),
    "describe": ((), ()),
    "open": ((), ()),
}


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is not a valid name: use at most 60 lower-case letters, digits and _, beginning "
            f"with a letter"
        )
    return name


def _checked_text(text: str) -> str:
    if not text.strip() or "\0" in text:
        raise ValueError("a text is empty or contains a null character")
    return text


Name = Annotated[str, AfterValidator(_checked_name)]
Phrase = Annotated[str, Field(max_length=120), AfterValidator(_checked_text)]
QuestionText = Annotated[str, Field(max_length=4_000), AfterValidator(_checked_text)]


class ProbePart(BaseModel):
    """A part of a probe set."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class AnswerOption(ProbePart):
    """One of the two options of a choice: its words, and other words that mean the same in an answer.

    `broader` words name this option in these answers but have a wider meaning: not every cook is a chef.
    """

    text: Phrase
    aliases: tuple[Phrase, ...] = Field(default=(), max_length=100)
    broader: tuple[Phrase, ...] = Field(default=(), max_length=100)

    @model_validator(mode="before")
    @classmethod
    def _from_words(cls, value: Any) -> Any:
        return {"text": value} if isinstance(value, str) else value

    @property
    def forms(self) -> tuple[str, ...]:
        return (self.text, *self.aliases, *self.broader)


class OptionPair(ProbePart):
    """The options of a choice: *plus* is coded +1, *minus* −1.

    `neither` lists longer words that contain a word of an option and mean neither, such as “high school graduate”.
    """

    plus: AnswerOption
    minus: AnswerOption
    neither: tuple[Phrase, ...] = Field(default=(), max_length=100)
    published_first: Side = "plus"

    @model_validator(mode="after")
    def _different(self) -> Self:
        forms = [
            {" ".join(form.casefold().split()) for form in side.forms} for side in (self.plus, self.minus)
        ]
        if common := sorted(forms[0] & forms[1]):
            raise ValueError(f"“{common[0]}” is a name of both options")
        return self

    def first(self, order: Order) -> Side:
        """Return the option that is named first in this order."""
        if order == "published":
            return self.published_first
        return "minus" if self.published_first == "plus" else "plus"

    def option(self, side: Side) -> AnswerOption:
        return self.plus if side == "plus" else self.minus


class AskedQuestion(ProbePart):
    """A choice as a model read it: everything that is needed to code the answer."""

    text: QuestionText
    options: OptionPair
    first: Side = "plus"  # the option that the text names first
    name: str = ""
    scenario: str = ""


class ProbeQuestion(ProbePart):
    """A question of a probe set.

    choice `options`, or `options_by_scenario` if they differ; {first} and {second} are their placeholders
    complete  a sentence about a {descriptor} with the first {letter} of its last word
    describe  a description of an image; `setting` names its kind
    open      anything else that is answered in free text
    """

    name: Name
    kind: Literal["choice", "complete", "describe", "open"]
    text: QuestionText
    system: str = Field(default="", max_length=4_000)
    setting: str = Field(default="", max_length=60)  # answers with the same setting are counted together
    form: Literal["", "singular", "plural"] = ""  # of a descriptor
    options: OptionPair | None = None
    options_by_scenario: dict[Name, OptionPair] = Field(default={}, max_length=1_000)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.kind == "choice") != bool(self.options or self.options_by_scenario):
            raise ValueError(
                f"{self.name}: a choice needs options, and other questions must not have options"
            )
        if self.options and self.options_by_scenario:
            raise ValueError(f"{self.name}: state options either once for all scenarios or for each scenario")
        if (self.kind == "complete") != bool(self.form):
            raise ValueError(f"{self.name}: a sentence to complete needs the form of its descriptor")
        allowed, needed = _PLACES[self.kind]
        try:
            places = places_of(self.text, allowed)
        except DomainError as error:
            raise ValueError(f"{self.name}: {error.message}") from None
        if missing := [place for place in needed if place not in places]:
            raise ValueError(f"{self.name}: the text has no {{{missing[0]}}}")
        return self

    def option_pair(self, scenario: str = "") -> OptionPair:
        """Return the options in a scenario; raises KeyError if there are none."""
        return self.options or self.options_by_scenario[scenario]

    def asked(self, *, scenario: str = "", order: Order = "published") -> AskedQuestion:
        """Return a choice as a model reads it: options in order, articles by rule."""
        pair = self.option_pair(scenario)
        first = pair.first(order)
        second: Side = "minus" if first == "plus" else "plus"
        text = fill(self.text, {"first": pair.option(first).text, "second": pair.option(second).text})
        return AskedQuestion(text=text, options=pair, first=first, name=self.name, scenario=scenario)

    def sentence(self, *, descriptor: str, letter: str) -> str:
        """Return a sentence to complete. “The oldest person” gets no additional article and no “This”."""
        text = self.text
        if descriptor.casefold().startswith("the "):
            text = re.sub(r"(?:\{[aA]_an\}|\b[Tt]his) \{descriptor\}", "{descriptor}", text)
        if re.search(r"(?:^|[.!?]\s+)\{descriptor\}", text):
            descriptor = descriptor[:1].upper() + descriptor[1:]
        return fill(text, {"descriptor": descriptor, "letter": letter})

    def completed(self, *, descriptor: str, word: str) -> str:
        """Return the sentence with its last word: “This elder is a/an [b__].” becomes “This elder is a baker.”"""
        match = _COMPLETED.search(self.text)
        if match is None:
            return f"{descriptor}: {word}"
        text = match[1].replace("a/an ", "{a_an} ") + "{letter}."
        return self.model_copy(update={"text": text}).sentence(descriptor=descriptor, letter=word)
