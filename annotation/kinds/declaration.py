"""The language in which kinds of campaign are declared: what is shown, what is asked about it, what is measured.

A `Kind` is data. It is checked when it is made, is stored as JSON (`model_dump`, `model_validate`) and says all that
planning, pages, interfaces, files and measures need to know of it; docs/decisions/0025 gives the reasons.
"""

import re
from collections import Counter
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_serializer, model_validator

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
ABOUT_ATTRIBUTES = (
    "attribute"  # the name of the question about planned attributes, in each kind that has them
)
KNOWABLE = ("scale", "choice", "compare", "rank")  # types of questions whose right answer can be known
LANGUAGES = ("en", "de")  # of texts that annotators read in our frame


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name: lower-case letters, digits and _, at most 40, a letter first")
    if name == "constructor":
        raise ValueError("constructor is no name: every object of a browser's language has a field called so")
    return name


def _checked_texts(texts: dict[str, str]) -> dict[str, str]:
    if missing := [language for language in LANGUAGES if not texts.get(language, "").strip()]:
        raise ValueError(f"{texts.get('en', '')[:40]!r} is not given in {' and '.join(missing)}")
    return texts


Name = Annotated[str, AfterValidator(_checked_name)]
Texts = Annotated[dict[str, str], AfterValidator(_checked_texts)]  # by language code


class Declared(BaseModel):
    """A part of a declaration: a value that nothing changes, without fields of another name."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Stimuli(Declared):
    """What one screen shows: so many texts or images, and which of them belong together."""

    medium: Literal["text", "image"]
    least: int = Field(default=1, ge=1, le=6)
    most: int = Field(default=1, ge=1, le=6)
    # What the stimuli of a screen have in common, and what no two of them share (nothing: they are different images).
    together: tuple[Literal["prompt", "scenario", "seed", "group", "model"], ...] = ()
    differ: Literal["model", "group"] | None = None
    # Whether the prompt is read beside the image.
    prompt_shown: bool = False
    # What nothing that reaches an annotator may tell.
    blind: frozenset[Literal["group", "prompt", "condition", "model", "role"]] = frozenset()
    # Of several stimuli: "counterbalanced" shows each order equally often and keeps which was shown.
    order: Literal["fixed", "shuffled", "counterbalanced"] = "fixed"

    @field_serializer("blind")
    def _sorted(self, blind: frozenset[str]) -> list[str]:
        return sorted(blind)  # a file is the same in each process

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.least > self.most:
            raise ValueError(f"at least {self.least} stimuli cannot be at most {self.most}")
        if self.most == 1 and (self.order != "fixed" or self.together or self.differ):
            raise ValueError("one stimulus has no order and nothing in common with others")
        if self.differ in self.together:
            raise ValueError(f"stimuli cannot share the {self.differ} and differ in it")
        if self.differ == "group" and "prompt" in self.together:
            raise ValueError("images of one prompt show one group, and cannot differ in it")
        if self.prompt_shown and (self.medium != "image" or "prompt" in self.blind):
            raise ValueError("a prompt is shown beside images, and only where it is not blind")
        if self.prompt_shown and self.most > 1 and "prompt" not in self.together:
            raise ValueError("one prompt can be shown only beside images of one prompt")
        return self

    @property
    def of_one_group(self) -> bool:
        """Whether everything on a screen shows the same identity group, if any."""
        return self.medium == "image" and (
            self.most == 1 or not {"prompt", "group"}.isdisjoint(self.together)
        )

    @property
    def layout(self) -> Literal["one", "side_by_side", "grid"]:
        """How the stimuli of a screen stand beside each other."""
        return "one" if self.most == 1 else "side_by_side" if self.most == 2 else "grid"


class ScalePoint(Declared):
    """An answer on a scale. One that stands apart, such as “Unsure”, has no place among the others."""

    code: int = Field(ge=-100, le=100)
    label: Texts
    apart: bool = False


class CodedAnswer(Declared):
    """An answer to choose, by the code under which it is stored."""

    code: Name
    label: Texts
    alone: bool = False  # where several can be chosen: with no other, such as “None of this”


class Region(Declared):
    """Where in the image: boxes or points. `required` None: the lead of a campaign decides."""

    shape: Literal["box", "point"]
    required: bool | None = None
    after: tuple[int | str, ...] = ()  # the answers with which a place is asked; empty: with each


class AskedAfter(Declared):
    """When a question is asked: after one of these answers to an earlier question."""

    question: Name
    answers: tuple[int | str, ...] = Field(min_length=1)


class _Question(Declared):
    name: Name
    label: Texts
    required: bool = True
    each: bool = False  # asked of each stimulus, and not once of the screen
    when: AskedAfter | None = None
    region: Region | None = None


class ScaleQuestion(_Question):
    """A point of a scale, in the order shown."""

    type: Literal["scale"] = "scale"
    points: tuple[ScalePoint, ...] = Field(min_length=2, max_length=11)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if sum(not point.apart for point in self.points) < 2:
            raise ValueError("a scale needs two points that do not stand apart")
        return self

    @property
    def codes(self) -> tuple[int | str, ...]:
        return tuple(point.code for point in self.points)


class ChoiceQuestion(_Question):
    """One of several answers, or any number of them."""

    type: Literal["choice"] = "choice"
    answers: tuple[CodedAnswer, ...] = Field(min_length=2, max_length=40)
    several: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.several and self.alone:
            raise ValueError("an answer stands alone only where several can be chosen")
        if len(self.alone) == len(self.answers):
            raise ValueError("at least one answer can be chosen with others")
        return self

    @property
    def codes(self) -> tuple[int | str, ...]:
        return tuple(answer.code for answer in self.answers)

    @property
    def alone(self) -> frozenset[str]:
        """The codes that no other can be chosen with."""
        return frozenset(answer.code for answer in self.answers if answer.alone)


class MarksQuestion(_Question):
    """Which of the attributes planned for the task are there; “none of the above” where it has a label."""

    type: Literal["marks"] = "marks"
    none: Texts | None = None

    @property
    def codes(self) -> tuple[int | str, ...]:
        return ()


class CompareQuestion(_Question):
    """Which of two stimuli; a tie where it has a label."""

    type: Literal["compare"] = "compare"
    tie: Texts | None = None

    @property
    def codes(self) -> tuple[int | str, ...]:
        return (0, 1) if self.tie is None else (0, 1, "tie")


class RankQuestion(_Question):
    """The order of the stimuli, the best first."""

    type: Literal["rank"] = "rank"
    ties: bool = False

    @property
    def codes(self) -> tuple[int | str, ...]:
        return ()


class TextQuestion(_Question):
    """An answer in the annotator's own words."""

    type: Literal["text"] = "text"
    longest: int = Field(default=2_000, ge=1, le=10_000)

    @property
    def codes(self) -> tuple[int | str, ...]:
        return ()


class SpanQuestion(_Question):
    """Words of the text that is shown: of the prompt beside an image, or of the text itself."""

    type: Literal["span"] = "span"
    none: Texts | None = None  # the answer that it is no word, where it has a label

    @property
    def codes(self) -> tuple[int | str, ...]:
        return ()


Question = Annotated[
    ScaleQuestion
    | ChoiceQuestion
    | MarksQuestion
    | CompareQuestion
    | RankQuestion
    | TextQuestion
    | SpanQuestion,
    Field(discriminator="type"),
]


class StandardRule(Declared):
    """A quality rule that every campaign of the kind starts with: it warns from so many screens on."""

    measure: Literal["median_seconds", "variety", "straight_lining", "agreement", "gold_accuracy"]
    threshold: float = Field(ge=0, allow_inf_nan=False)
    minimum: int = Field(ge=1, le=10_000)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.threshold > 1 and self.measure != "median_seconds":
            raise ValueError(f"{self.measure} is a share, and its threshold at most 1")
        return self


class Kind(Declared):
    """A kind of campaign."""

    key: Name
    name: str  # as leads read it
    description: str  # what leads read who choose a kind
    campaign_name: str  # proposed for a campaign of the kind
    work: Texts  # as annotators read what they do: it tells nothing of what is measured
    # What JSON that reaches annotators calls a task of the kind, and the schema's words for that.
    public_name: Name
    public_help: str
    stimuli: Stimuli
    questions: tuple[Question, ...] = Field(min_length=1, max_length=20)
    unit: Literal["attribute", "image", "image_attribute", "pair", "set", "association", "answer"]
    measures: tuple[Name, ...] = Field(min_length=1)
    guidelines: str  # English; a campaign's instrument begins with them
    # The same in other languages, by code: read by annotators until a lead changes the guidelines.
    guidelines_in: dict[str, str] = {}
    standard_rules: tuple[StandardRule, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for language, text in self.guidelines_in.items():
            if language not in LANGUAGES[1:] or not text.strip():
                raise ValueError(f"{self.key}: there are no guidelines in {language!r}")
        for problem in (*_repeated(self), *_conditions(self), *_stimuli(self), *_attributes(self)):
            raise ValueError(problem)
        return self

    def question(self, name: str) -> Question:
        """Return the question of this name; KeyError where there is none."""
        return {question.name: question for question in self.questions}[name]

    @property
    def statement(self) -> str:
        """What is judged, in English."""
        return self.questions[0].label["en"]

    @property
    def scale(self) -> tuple[ScalePoint, ...]:
        """The points of the first question’s scale in the order shown; none where it asks for something else."""
        first = self.questions[0]
        return first.points if isinstance(first, ScaleQuestion) else ()

    def first_instrument(self) -> dict[str, Any]:
        """Return what the first version of a campaign's instrument says.

        Only campaigns about attributes may word the question anew; all others ask what the declaration says.
        """
        if self.about_attributes:
            return {"guidelines": self.guidelines, "statement": self.statement, "labels": self.labels}
        return {"guidelines": self.guidelines, "statement": "", "labels": {}}

    @property
    def labels(self) -> dict[str, str]:
        """The labels of the scale in English by code, from the highest code down."""
        points = sorted(self.scale, key=lambda point: -point.code)
        return {str(point.code): point.label["en"] for point in points}

    @property
    def about_attributes(self) -> bool:
        """Whether its tasks ask about planned attributes: of an image, or of nothing but the words."""
        return self.unit in {"attribute", "image_attribute"}

    @property
    def rates_attributes(self) -> bool:
        """Whether each of its tasks asks for a rating of one attribute."""
        return self.unit == "attribute"

    @property
    def marks_attributes(self) -> bool:
        """Whether each of its tasks asks which attributes an image shows."""
        return self.unit == "image_attribute"

    @property
    def knowable(self) -> bool:
        """Whether an answer to one of its questions can be known to be right: texts and words never are."""
        return self.about_attributes or self.asks(*KNOWABLE)

    @property
    def asks_for_texts(self) -> bool:
        """Whether people write texts that count as answers of their own, and not as reasons of a rating."""
        return not self.about_attributes and self.asks("text")

    @property
    def draws(self) -> bool:
        """Whether places in images are asked for."""
        return bool(self.regions)

    @property
    def regions(self) -> tuple[Region, ...]:
        """The places that are asked for."""
        return tuple(question.region for question in self.questions if question.region is not None)

    def asks(self, *types: str) -> bool:
        """Return whether a question is of one of these types."""
        return any(question.type in types for question in self.questions)


def _repeated(kind: Kind) -> list[str]:
    """Return which names or codes stand for two things."""
    lists: list[tuple[str, list[str]]] = [
        ("question", [question.name for question in kind.questions]),
        ("rule", [str(rule.measure) for rule in kind.standard_rules]),
    ]
    lists += [
        (f"answer of {question.name}", [str(code) for code in question.codes]) for question in kind.questions
    ]
    return [
        f"{kind.key}: {what} {name} is declared twice"
        for what, names in lists
        for name, count in Counter(names).items()
        if count > 1
    ]


def _conditions(kind: Kind) -> list[str]:
    """Return which conditions name no earlier question, or no answer to it."""
    problems = []
    for place, question in enumerate(kind.questions):
        if question.when is None:
            continue
        earlier = {before.name: before for before in kind.questions[:place]}
        asked = earlier.get(question.when.question)
        if asked is None:
            problems.append(
                f"{kind.key}: {question.name} depends on {question.when.question}, which is not asked before"
            )
        elif asked.each and not question.each:
            problems.append(
                f"{kind.key}: {question.name} is asked once, and depends on what is asked of each stimulus"
            )
        elif unknown := [answer for answer in question.when.answers if answer not in asked.codes]:
            problems.append(
                f"{kind.key}: {question.name} depends on {unknown[0]!r}, no answer to {asked.name}"
            )
    return problems


def _attributes(kind: Kind) -> list[str]:
    """Return what does not fit in a kind that asks about attributes, or in one that does not."""
    about = [question.name for question in kind.questions if question.name == ABOUT_ATTRIBUTES]
    if kind.about_attributes:
        problems = (
            [] if about else [f"{kind.key}: no question about the attributes is called {ABOUT_ATTRIBUTES}"]
        )
        return problems + [
            f"{kind.key}: {question.name} is asked of each stimulus, and there is one"
            for question in kind.questions
            if question.each
        ]
    problems = [f"{kind.key}: there is no attribute to ask {name} about" for name in about]
    return problems + [
        f"{kind.key}: {question.name} marks attributes, and none are planned"
        for question in kind.questions
        if question.type == "marks"
    ]


def _stimuli(kind: Kind) -> list[str]:
    """Return which questions cannot be asked of what is shown."""
    shown, problems = kind.stimuli, []
    for question in kind.questions:
        if question.type == "compare" and (shown.least, shown.most) != (2, 2):
            problems.append(f"{kind.key}: {question.name} compares two stimuli")
        if question.type == "rank" and (shown.most < 3 or shown.least < 2):
            problems.append(f"{kind.key}: {question.name} ranks three or more stimuli")
        if question.region is not None and shown.medium != "image":
            problems.append(f"{kind.key}: {question.name} asks for a place, and no image is shown")
        problems += _places(kind, question)
        if question.type == "span" and not (shown.prompt_shown or shown.medium == "text"):
            problems.append(f"{kind.key}: {question.name} asks for words, and no text is shown")
        if question.type == "span" and shown.medium == "text" and shown.most > 1:
            problems.append(f"{kind.key}: {question.name} asks for words of one text, and several are shown")
        if question.each and (shown.most == 1 or question.type in {"compare", "rank", "span"}):
            problems.append(f"{kind.key}: {question.name} cannot be asked of each stimulus")
    return problems


def _places(kind: Kind, question: Question) -> list[str]:
    """Return why a question cannot ask for a place in the image."""
    if question.region is None:
        return []
    problems = []
    one_answer = question.type in {"scale", "marks", "text"} or (
        question.type == "choice" and not question.several
    )
    if not one_answer:
        problems.append(f"{kind.key}: {question.name} has no single answer that a place could belong to")
    if kind.stimuli.most > 1 and not question.each:
        problems.append(f"{kind.key}: {question.name} asks for a place and does not say in which image")
    if unknown := [answer for answer in question.region.after if answer not in question.codes]:
        problems.append(f"{kind.key}: {question.name} asks for a place after {unknown[0]!r}, no answer to it")
    return problems
