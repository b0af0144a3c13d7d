"""The language in which kinds of campaign are declared: what is shown, what is asked about it, what is measured.

A `Kind` is data. It is checked when it is made, is stored as JSON (`model_dump`, `model_validate`) and says all that
planning, pages, interfaces, files and measures need to know of it; docs/decisions/0025 gives the reasons.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_serializer, model_validator

from annotation.kinds.problems import ABOUT_ATTRIBUTES, Fault, contradictions, refuse
from foundation.languages import LANGUAGES as LANGUAGE_TABLE
from foundation.languages import TRANSLATIONS, translations
from foundation.parameters import parameter

__all__ = ["ABOUT_ATTRIBUTES"]
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
KNOWABLE = ("scale", "choice", "compare", "rank")  # types of questions whose right answer can be known
LANGUAGES = ("en", "de")  # in which a declaration gives each of its texts


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name: lower-case letters, digits and _, at most 40, a letter first")
    if name == "constructor":
        raise ValueError("constructor is no name: every object of a browser's language has a field called so")
    return name


def _checked_texts(texts: dict[str, str]) -> dict[str, str]:
    """Return texts by language: what is not given is taken from the catalogue of built-in texts."""
    texts = translations(texts.get("en", "")) | texts
    absent = [language for language in LANGUAGES if not texts.get(language, "").strip()]
    words = f"{texts.get('en', '')[:40]!r} is not given in"
    refuse(*(Fault((language,), f"{words} {language}", "missing") for language in absent))
    return texts


_OR_NOT = "Leave it empty if there is no such answer."
Name = Annotated[str, AfterValidator(_checked_name)]
Texts = Annotated[dict[str, str], AfterValidator(_checked_texts)]  # by language code


class Declared(BaseModel):
    """A part of a declaration: a value that nothing changes, without fields of another name."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Stimuli(Declared):
    """What one screen shows: so many texts or images, and which of them belong together."""

    medium: Literal["text", "image"] = parameter(
        label="Shown", help="What annotators look at.", words={"image": "Images", "text": "Texts"}
    )
    least: int = parameter(
        1, label="Fewest on a screen", help="The smallest number of images or texts on a screen.", ge=1, le=6
    )
    most: int = parameter(
        1, label="Most on a screen", help="The largest number of images or texts on a screen.", ge=1, le=6
    )
    together: tuple[Literal["prompt", "scenario", "seed", "group", "model"], ...] = parameter(
        (),
        label="They share",
        help="What all images on a screen have in common.",
        words={
            "prompt": "Prompt",
            "scenario": "Scenario",
            "seed": "Seed",
            "group": "Group",
            "model": "Model",
        },
    )
    differ: Literal["model", "group"] | None = parameter(
        None,
        label="They differ in",
        help="What differs between any two images on a screen.",
        words={None: "Nothing: they are different images", "model": "Model", "group": "Group"},
    )
    prompt_shown: bool = parameter(
        False, label="Show the prompt", help="Annotators see the prompt beside the image."
    )
    blind: frozenset[Literal["group", "prompt", "condition", "model", "role"]] = parameter(
        frozenset(),
        label="Kept from annotators",
        help="Annotators never receive any of these.",
        words={
            "group": "Group",
            "prompt": "Prompt",
            "condition": "Condition",
            "model": "Model",
            "role": "Role of an attribute",
        },
    )
    order: Literal["fixed", "shuffled", "counterbalanced"] = parameter(
        "fixed",
        label="Order",
        help="Counterbalanced shows each order equally often and stores the order shown.",
        words={"fixed": "Fixed", "shuffled": "Shuffled", "counterbalanced": "Counterbalanced"},
    )

    sensitive: bool = parameter(
        False,
        label="Sensitive",
        help="What is shown may hurt. A lead can limit how many such screens each person gets a day.",
    )

    @field_serializer("blind")
    def _sorted(self, blind: frozenset[str]) -> list[str]:
        return sorted(blind)  # a file is the same in each process

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.least > self.most:
            refuse(Fault(("least",), f"at least {self.least} stimuli cannot be at most {self.most}"))
        if self.most == 1 and (self.order != "fixed" or self.together or self.differ):
            refuse(Fault(("most",), "one stimulus has no order and nothing in common with others"))
        if self.differ in self.together:
            refuse(Fault(("differ",), f"stimuli cannot share the {self.differ} and differ in it"))
        if self.differ == "group" and "prompt" in self.together:
            refuse(Fault(("differ",), "images of one prompt show one group, and cannot differ in it"))
        if self.prompt_shown and (self.medium != "image" or "prompt" in self.blind):
            refuse(
                Fault(("prompt_shown",), "a prompt is shown beside images, and only where it is not blind")
            )
        if self.prompt_shown and self.most > 1 and "prompt" not in self.together:
            refuse(Fault(("prompt_shown",), "one prompt can be shown only beside images of one prompt"))
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

    code: int = parameter(
        label="Number", help="Stored as the answer and used to compute means.", ge=-100, le=100
    )
    label: Texts = parameter(label="Label", help="What annotators read.")
    apart: bool = parameter(
        False, label="Stands apart", help="Such as “Unsure”: it has no place among the others."
    )


class CodedAnswer(Declared):
    """An answer to choose, by the code under which it is stored."""

    code: Name = parameter(label="Code", help="Stored as the answer: lower-case letters, digits and _.")
    label: Texts = parameter(label="Label", help="What annotators read.")
    alone: bool = parameter(
        False,
        label="Chosen alone",
        help="For questions with several answers: excludes all others, such as “None of this”.",
    )


class Region(Declared):
    """Where in the image: boxes or points. `required` None: the lead of a campaign decides."""

    shape: Literal["box", "point"] = parameter(
        label="Place in the image",
        help="Annotators mark the place in the image.",
        words={"box": "A box", "point": "A point"},
    )
    required: bool | None = parameter(
        None,
        label="Must a place be given?",
        help="If left open, the lead decides for each campaign.",
        words={None: "Each campaign decides", True: "Yes", False: "No"},
    )
    after: tuple[int | str, ...] = parameter(
        (), label="Place asked after", help="Choose none to ask for it after every answer."
    )


class AskedAfter(Declared):
    """When a question is asked: after one of these answers to an earlier question."""

    question: Name = parameter(label="Asked", help="After an answer to an earlier question, or always.")
    answers: tuple[int | str, ...] = parameter(
        label="After these answers", help="Any one of them is enough.", min_length=1
    )


class _Question(Declared):
    name: Name = parameter(
        label="Name", help="Used for its column in results and files: lower-case letters, digits and _."
    )
    label: Texts = parameter(label="Question", help="")
    required: bool = parameter(True, label="Must be answered", help="")
    each: bool = parameter(
        False, label="Asked of each stimulus", help="Otherwise it is asked once of the whole screen."
    )
    when: AskedAfter | None = None
    region: Region | None = None


class ScaleQuestion(_Question):
    """A point of a scale, in the order shown."""

    type: Literal["scale"] = parameter("scale", label="Scale", help="A point of a scale, in the order shown.")
    points: tuple[ScalePoint, ...] = parameter(
        label="Points", help="In the order shown.", min_length=2, max_length=11
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if sum(not point.apart for point in self.points) < 2:
            refuse(Fault(("points",), "a scale needs two points that do not stand apart"))
        return self

    @property
    def codes(self) -> tuple[int | str, ...]:
        return tuple(point.code for point in self.points)


class ChoiceQuestion(_Question):
    """One of several answers, or any number of them."""

    type: Literal["choice"] = parameter(
        "choice", label="Choice", help="One of several answers, or any number of them."
    )
    answers: tuple[CodedAnswer, ...] = parameter(
        label="Answers", help="In the order shown.", min_length=2, max_length=40
    )
    several: bool = parameter(
        False, label="Several answers", help="Annotators may choose any number of them."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.several and self.alone:
            refuse(Fault(("answers",), "an answer stands alone only where several can be chosen"))
        if len(self.alone) == len(self.answers):
            refuse(Fault(("answers",), "at least one answer can be chosen with others"))
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

    type: Literal["marks"] = parameter(
        "marks", label="Marks", help="Which of the attributes planned for the task are there."
    )
    none: Texts | None = parameter(None, label="None of them", help=f"The label of this answer. {_OR_NOT}")

    @property
    def codes(self) -> tuple[int | str, ...]:
        return ()


class CompareQuestion(_Question):
    """Which of two stimuli; a tie where it has a label."""

    type: Literal["compare"] = parameter("compare", label="Comparison", help="Which of two stimuli.")
    tie: Texts | None = parameter(
        None, label="Tie", help=f"The label of the answer that both are equal. {_OR_NOT}"
    )

    @property
    def codes(self) -> tuple[int | str, ...]:
        return (0, 1) if self.tie is None else (0, 1, "tie")


class RankQuestion(_Question):
    """The order of the stimuli, the best first."""

    type: Literal["rank"] = parameter(
        "rank", label="Ranking", help="The order of the stimuli, the best first."
    )
    ties: bool = parameter(False, label="Ties", help="Stimuli may share a place.")

    @property
    def codes(self) -> tuple[int | str, ...]:
        return ()


class TextQuestion(_Question):
    """An answer in the annotator's own words."""

    type: Literal["text"] = parameter("text", label="Text", help="An answer in the annotator’s own words.")
    longest: int = parameter(2_000, label="Longest text", help="In characters.", ge=1, le=10_000)

    @property
    def codes(self) -> tuple[int | str, ...]:
        return ()


class SpanQuestion(_Question):
    """Words of the text that is shown: of the prompt beside an image, or of the text itself."""

    type: Literal["span"] = parameter(
        "span",
        label="Words",
        help="Words of the text that is shown: of the prompt beside an image, or of the text itself.",
    )
    none: Texts | None = parameter(
        None, label="No word", help=f"The label of the answer that no word applies. {_OR_NOT}"
    )

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

    measure: Literal["median_seconds", "variety", "straight_lining", "agreement", "gold_accuracy"] = (
        parameter(
            label="Rule",
            help="What the rule measures.",
            words={
                "median_seconds": "Median time per screen below (seconds)",
                "variety": "Variety of answers below (share)",
                "straight_lining": "Same answer in a row above (share)",
                "agreement": "Agreement with others below (share)",
                "gold_accuracy": "Right answers to gold tasks below (share)",
            },
        )
    )
    threshold: float = parameter(
        label="Threshold", help="Seconds, or a share from 0 to 1.", ge=0, allow_inf_nan=False
    )
    minimum: int = parameter(
        label="Screens first",
        help="How many screens an annotator must have answered before the rule can warn.",
        ge=1,
        le=10_000,
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.threshold > 1 and self.measure != "median_seconds":
            refuse(Fault(("threshold",), f"{self.measure} is a share, and its threshold at most 1"))
        return self


class Kind(Declared):
    """A kind of campaign."""

    key: Name = parameter(
        label="Key", help="Names the kind in addresses, files and results: lower-case letters, digits and _."
    )
    name: str = parameter(label="Name", help="What leads and analysts read.")
    description: str = parameter(label="Description", help="What leads read when they choose a kind.")
    campaign_name: str = parameter(
        label="Name of a campaign", help="Proposed when a lead plans a campaign of this kind."
    )
    work: Texts = parameter(
        label="Work", help="How the work is described to annotators. Do not say what is measured."
    )
    public_name: Name = parameter(
        label="Public name", help="The name of the kind in the JSON that annotators receive."
    )
    public_help: str = parameter(label="Public help", help="How the API’s schema explains the public name.")
    stimuli: Stimuli
    questions: tuple[Question, ...] = parameter(
        label="Questions", help="In the order asked.", min_length=1, max_length=20
    )
    unit: Literal["attribute", "image", "image_attribute", "pair", "set", "association", "answer"] = (
        parameter(
            label="Unit",
            help="What one result is about.",
            words={
                "image": "Image",
                "pair": "Pair of images",
                "set": "Set of images",
                "association": "Association",
                "answer": "Text",
                "attribute": "Attribute (built-in kinds)",
                "image_attribute": "Attribute in an image (built-in kinds)",
            },
        )
    )
    measures: tuple[Name, ...] = parameter(
        label="Measures", help="What is computed from the answers.", min_length=1
    )
    guidelines: str = parameter(
        label="Guidelines",
        help="In English, as CommonMark. A campaign starts with this text and can change it.",
    )
    guidelines_in: dict[str, str] = parameter(
        {}, label="Guidelines", help="Shown to annotators until a lead changes the campaign’s guidelines."
    )
    standard_rules: tuple[StandardRule, ...] = parameter(
        (), label="Quality rules", help="They warn leads about annotators in every campaign of the kind."
    )

    @model_validator(mode="before")
    @classmethod
    def _with_built_in_guidelines(cls, declared: Any) -> Any:
        guidelines = declared.get("guidelines") if isinstance(declared, dict) else None
        given = declared.get("guidelines_in", {}) if isinstance(declared, dict) else None
        if not isinstance(guidelines, str) or not isinstance(given, dict):
            return declared
        return declared | {"guidelines_in": translations(guidelines) | given}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for language, text in self.guidelines_in.items():
            if language not in TRANSLATIONS or not text.strip():
                fault = Fault(("guidelines_in", language), f"there are no guidelines in {language!r}")
                refuse(fault, about=self.key)
        refuse(*contradictions(self), about=self.key)
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

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that each of its texts is in, English first."""
        return _languages_of(
            [self.guidelines_in | {"en": self.guidelines}, self.work, *self._question_texts()]
        )

    @property
    def question_languages(self) -> tuple[str, ...]:
        """The languages that each of its questions is in, English first."""
        return _languages_of(self._question_texts())

    def _question_texts(self) -> list[Mapping[str, str]]:
        texts: list[Mapping[str, str]] = []
        for question in self.questions:
            texts += [
                question.label,
                *(part.label for name in ("points", "answers") for part in getattr(question, name, ())),
            ]
            texts += [words for name in ("none", "tie") if (words := getattr(question, name, None))]
        return texts

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


def _languages_of(texts: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    texts = list(texts)
    return tuple(code for code in LANGUAGE_TABLE if all(code in words for words in texts))
