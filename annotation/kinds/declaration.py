"""The vocabulary for declaring kinds of campaign: their stimuli, questions and measures.

A `Kind` is data. It is checked when it is made, is stored as JSON (`model_dump`, `model_validate`) and contains
everything that planning, pages, APIs, files and measures need to know about the kind; docs/develop/decisions/0025 gives
the reasons.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Self

from pydantic import model_validator

from annotation.kinds.parts import Declared, Name, Texts
from annotation.kinds.problems import Fault, contradictions, refuse
from annotation.kinds.questions import Question, Region, ScalePoint, ScaleQuestion
from annotation.kinds.stimuli import Stimuli
from foundation.languages import LANGUAGES as LANGUAGE_TABLE
from foundation.languages import TRANSLATIONS, translations
from foundation.parameters import parameter

KNOWABLE = ("scale", "choice", "compare", "rank")  # types of questions whose right answer can be known


class StandardRule(Declared):
    """A quality rule that every new campaign of the kind has: it warns after this number of screens."""

    measure: Literal["median_seconds", "variety", "straight_lining", "agreement", "gold_accuracy"] = (
        parameter(
            label="Rule",
            help="What the rule measures.",
            words={
                "median_seconds": "Median time per screen below (seconds)",
                "variety": "Variety of answers below (share)",
                "straight_lining": "Most frequent answer above (share)",
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
        label="Key", help="The kind’s name in addresses, files and results: lower-case letters, digits and _."
    )
    name: str = parameter(label="Name", help="What leads and analysts read.")
    description: str = parameter(label="Description", help="What leads read when they choose a kind.")
    campaign_name: str = parameter(
        label="Name of a campaign", help="Proposed when a lead plans a campaign of this kind."
    )
    work: Texts = parameter(
        label="Work",
        help="How the work is described to annotators. Do not reveal what the campaign measures.",
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
            help="What each result describes.",
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
        help="In English, as CommonMark. Each campaign starts with this text, and leads can change it.",
    )
    guidelines_in: dict[str, str] = parameter(
        {}, label="Guidelines", help="Shown to annotators until a lead changes the campaign’s guidelines."
    )
    standard_rules: tuple[StandardRule, ...] = parameter(
        (),
        label="Quality rules",
        help="These rules warn leads about annotators in every campaign of the kind.",
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
        """Return the question of this name; raises KeyError if there is none."""
        return {question.name: question for question in self.questions}[name]

    @property
    def statement(self) -> str:
        """The judged statement, in English."""
        return self.questions[0].label["en"]

    @property
    def scale(self) -> tuple[ScalePoint, ...]:
        """The points of the first question’s scale in the order shown; none if it is not a scale."""
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
        """Return the texts of the first version of a campaign's instrument.

        Only campaigns about attributes may reword the question; all others use the wording of the declaration.
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
        """Whether its tasks ask about planned attributes, of an image or as words alone."""
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
        """Whether people write texts that count as separate answers, not as reasons for a rating."""
        return not self.about_attributes and self.asks("text")

    @property
    def draws(self) -> bool:
        """Whether questions ask for places in images."""
        return bool(self.regions)

    @property
    def regions(self) -> tuple[Region, ...]:
        """The regions that questions ask for."""
        return tuple(question.region for question in self.questions if question.region is not None)

    def asks(self, *types: str) -> bool:
        """Return whether a question is of one of these types."""
        return any(question.type in types for question in self.questions)


def _languages_of(texts: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    texts = list(texts)
    return tuple(code for code in LANGUAGE_TABLE if all(code in words for words in texts))
