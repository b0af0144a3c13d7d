"""The questions of kinds, and their possible answers."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from annotation.kinds.parts import Declared, Name, Texts
from annotation.kinds.problems import Fault, refuse
from foundation.parameters import parameter

_OR_NOT = "Leave this field empty if there is no such answer."


class ScalePoint(Declared):
    """An answer on a scale. An answer apart from the scale, such as “Unsure”, has no position among the others."""

    code: int = parameter(
        label="Number",
        help="The number that is stored as the answer and used to compute means.",
        ge=-100,
        le=100,
    )
    label: Texts = parameter(label="Label", help="What annotators read.")
    apart: bool = parameter(
        False,
        label="Stands apart",
        help="For an answer such as “Unsure”, which has no place in the order of the other answers.",
    )


class CodedAnswer(Declared):
    """An answer to choose, by the code under which it is stored."""

    code: Name = parameter(
        label="Code", help="The word that is stored as the answer: lower-case letters, digits and _."
    )
    label: Texts = parameter(label="Label", help="What annotators read.")
    alone: bool = parameter(
        False,
        label="Chosen alone",
        help="For questions with several answers: excludes all others, such as “None of this”.",
    )


class Region(Declared):
    """Places in the image: boxes or points. `required` None: the lead of a campaign decides."""

    shape: Literal["box", "point"] = parameter(
        label="Place in the image",
        help="Annotators mark the place in the image.",
        words={"box": "A box", "point": "A point"},
    )
    required: bool | None = parameter(
        None,
        label="Is the place required?",
        help="If left open, the lead decides for each campaign.",
        words={None: "Each campaign decides", True: "Yes", False: "No"},
    )
    after: tuple[int | str, ...] = parameter(
        (), label="Place asked after", help="If you choose none, the place is asked for after every answer."
    )


class AskedAfter(Declared):
    """When a question is asked: after one of these answers to an earlier question."""

    question: Name = parameter(
        label="Asked", help="Asked always, or only after some answers to an earlier question."
    )
    answers: tuple[int | str, ...] = parameter(
        label="After these answers", help="The question is asked after any of these answers.", min_length=1
    )


class _Question(Declared):
    name: Name = parameter(
        label="Name",
        help="The name of the question’s column in results and files: lower-case letters, digits and _.",
    )
    label: Texts = parameter(label="Question", help="")
    required: bool = parameter(True, label="Must be answered", help="")
    each: bool = parameter(
        False,
        label="Asked about each stimulus",
        help="Otherwise the question is asked once about the whole screen.",
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
            refuse(
                Fault(("points",), "a scale needs at least two points; points that stand apart do not count")
            )
        return self

    @property
    def codes(self) -> tuple[int | str, ...]:
        return tuple(point.code for point in self.points)


class ChoiceQuestion(_Question):
    """One of several answers, or any number of answers."""

    type: Literal["choice"] = parameter(
        "choice", label="Choice", help="One of several answers, or any number of answers."
    )
    answers: tuple[CodedAnswer, ...] = parameter(
        label="Answers", help="In the order shown.", min_length=2, max_length=40
    )
    several: bool = parameter(
        False, label="Several answers", help="Annotators may choose any number of answers."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.several and self.alone:
            refuse(Fault(("answers",), "an answer can exclude others only if several can be chosen"))
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
    """Which of the planned attributes are present; “none of the above” if it has a label."""

    type: Literal["marks"] = parameter(
        "marks", label="Marks", help="Annotators mark which of the attributes of the task the image shows."
    )
    none: Texts | None = parameter(None, label="None of them", help=f"The label of this answer. {_OR_NOT}")

    @property
    def codes(self) -> tuple[int | str, ...]:
        return ()


class CompareQuestion(_Question):
    """Which of two stimuli; a tie if it has a label."""

    type: Literal["compare"] = parameter(
        "compare", label="Comparison", help="Annotators choose one of two stimuli."
    )
    tie: Texts | None = parameter(
        None, label="Tie", help=f"The label of the answer that both stimuli are equal. {_OR_NOT}"
    )

    @property
    def codes(self) -> tuple[int | str, ...]:
        return (0, 1) if self.tie is None else (0, 1, "tie")


class RankQuestion(_Question):
    """The order of the stimuli, the best first."""

    type: Literal["rank"] = parameter(
        "rank", label="Ranking", help="The order of the stimuli, the best first."
    )
    ties: bool = parameter(False, label="Ties", help="Several stimuli may have the same place.")

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
    """Words of the shown text: of the prompt beside an image, or of the text itself."""

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
