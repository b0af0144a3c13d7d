"""Checking an annotator's answer against the questions of its task."""

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from annotation.answers.attribute_references import references
from annotation.answers.geometry import BOX_SIDES, box_inside, box_problem, is_number
from annotation.answers.questions.stimuli import screen_questions
from annotation.answers.questions.storage import stored_answers
from annotation.answers.questions.validation import QuestionAnswers, checked
from annotation.answers.text import is_text
from annotation.kinds.registry import UNSURE, kind_of
from annotation.models import Annotation, Box, Judgement, Task
from foundation.errors import DomainError

MAX_BOXES = 50  # per attribute
MAX_JUSTIFICATION = 2000


@dataclass(frozen=True)
class AnswerBox:
    """A rectangle in fractions of the image's width and height, from the top left corner."""

    attribute_id: int
    x: float
    y: float
    width: float
    height: float

    @property
    def sides(self) -> tuple[float, float, float, float]:
        """Its columns `x`, `y`, `width` and `height`."""
        return self.x, self.y, self.width, self.height


@dataclass(frozen=True)
class Answer:
    """A checked answer: marks and boxes, a rating, or the answers to a kind's questions."""

    ticked: frozenset[int] = frozenset()
    boxes: tuple[AnswerBox, ...] = ()
    none_of_the_above: bool | None = None
    rating: int | None = None
    justification: str = ""
    questions: QuestionAnswers | None = None

    @classmethod
    def parse(cls, data: object, task: Task, *, boxes_required: bool = True) -> Self:
        """Return the answer `data` gives to `task`; DomainError `answer_invalid` names each wrong field.

        Without `boxes_required`, answers need no boxes or points, even if the campaign asks for them.
        """
        if not isinstance(data, Mapping):
            raise DomainError(
                "answer_invalid", "The answer must be an object.", fields={"answer": "not an object"}
            )
        kind = kind_of(task.campaign)
        if not kind.about_attributes:
            return cls(questions=checked(data, screen_questions(task, regions_required=boxes_required)))
        if kind.rates_attributes:
            return cls.rating_of(data)
        boxes_required = boxes_required and task.campaign.boxes_required
        return cls.marks_of(data, references(task), boxes_required=boxes_required)

    @classmethod
    def rating_of(cls, data: Mapping[str, Any]) -> Self:
        """Return the rating that `data` gives; DomainError as `parse` raises it."""
        wrong = _unknown(data, {"rating", "justification"})
        rating, justification = data.get("rating"), data.get("justification") or ""
        if type(rating) is not int or not 1 <= rating <= 5:
            wrong["rating"] = "Choose one of the five answers."
        if not isinstance(justification, str) or not is_text(justification):
            wrong["justification"] = "Write text."
        elif len(justification) > MAX_JUSTIFICATION:
            wrong["justification"] = f"Please write at most {MAX_JUSTIFICATION:,} characters."
        elif rating == UNSURE and not justification.strip():
            wrong["justification"] = "Please write why you are unsure."
        _refuse(wrong)
        return cls(rating=rating, justification=justification.strip())

    @classmethod
    def marks_of(
        cls, data: Mapping[str, Any], attribute_ids: Mapping[str, int], *, boxes_required: bool
    ) -> Self:
        """Return the marks in `data` of the attributes `asked`, by their names in it; raises DomainError as in
        `parse`."""
        wrong = _unknown(data, {"ticked", "boxes", "none_of_the_above"})
        ticked = _ticked(data.get("ticked", []), attribute_ids, wrong)
        boxes = _boxes(data.get("boxes", []), attribute_ids, ticked, wrong)
        none = data.get("none_of_the_above", False)
        if type(none) is not bool:
            wrong["none_of_the_above"] = "Say true or false."
        elif none and (ticked or boxes):
            wrong["none_of_the_above"] = (
                "You cannot choose ‘None of the above’ together with a tick or a box."
            )
        elif not none and not ticked and not wrong:
            wrong["ticked"] = "Tick what the picture shows, or choose ‘None of the above’."
        per_attribute = Counter(box.attribute_id for box in boxes)
        bare = ticked - per_attribute.keys()
        unboxed = [ref for ref, attribute in attribute_ids.items() if attribute in bare]
        if unboxed and boxes_required and "boxes" not in wrong:
            wrong |= {f"boxes.{ref}": "Draw a box around the place where you see it." for ref in unboxed}
        for ref, attribute in attribute_ids.items():
            if per_attribute[attribute] > MAX_BOXES:
                wrong[f"boxes.{ref}"] = f"At most {MAX_BOXES} boxes can be drawn for one answer."
        _refuse(wrong)
        return cls(ticked=frozenset(ticked), boxes=tuple(boxes), none_of_the_above=none)


def answer_of(annotation: Annotation) -> Answer:
    """Return the answer of a stored annotation."""
    if not kind_of(annotation.campaign).about_attributes:
        return Answer(questions=stored_answers(annotation))
    boxes = Box.objects.filter(judgement__annotation=annotation).order_by("pk")
    columns = boxes.values_list("judgement__attribute_id", "x", "y", "width", "height")
    return stored_answer(
        annotation, list(annotation.judgements.order_by("pk")), (AnswerBox(*box) for box in columns)
    )


def stored_answer(
    annotation: Annotation, judgements: Sequence[Judgement], boxes: Iterable[AnswerBox]
) -> Answer:
    """Return an annotation's answer from its rows, each type of row in the order of keys."""
    if judgements and judgements[0].rating is not None:
        return Answer(rating=judgements[0].rating, justification=annotation.justification)
    return Answer(
        ticked=frozenset(
            judgement.attribute_id
            for judgement in judgements
            if judgement.attribute_id is not None and judgement.present
        ),
        boxes=tuple(boxes),
        none_of_the_above=bool(annotation.none_of_the_above),
    )


def submission_id(raw: object) -> uuid.UUID:
    """Return the client's submission id; raises DomainError `submission_id_invalid`."""
    try:
        return raw if isinstance(raw, uuid.UUID) else uuid.UUID(str(raw))
    except ValueError:
        raise DomainError(
            "submission_id_invalid",
            "submission_id must be a UUID that your client made for this submission.",
            fields={"submission_id": "not a UUID"},
        ) from None


def seconds(raw: object) -> float | None:
    """Return the working time that the client reports; raises DomainError `active_seconds_invalid`."""
    if raw is None:
        return None
    if not is_number(raw) or raw < 0:
        raise DomainError(
            "active_seconds_invalid",
            "active_seconds must be a number of seconds from 0.",
            fields={"active_seconds": "not a number of seconds"},
        )
    return float(raw)


def instrument_version(raw: object) -> int | None:
    """Return which version of the guidelines the annotator saw, None for the latest; raises DomainError."""
    if raw is None or (type(raw) is int and 1 <= raw <= 32_767):
        return raw
    raise instrument_unknown()


def instrument_unknown() -> DomainError:
    """Return the refusal of a version that the campaign never had."""
    return DomainError(
        "instrument_unknown",
        "The campaign has no such version of its guidelines; send the version that came with the task.",
        fields={"instrument_version": "no such version"},
    )


def _ticked(raw: object, attribute_ids: Mapping[str, int], wrong: dict[str, str]) -> set[int]:
    if not isinstance(raw, list) or not all(isinstance(ref, str) for ref in raw):
        wrong["ticked"] = "Give a list of attribute references."
        return set()
    if any(ref not in attribute_ids for ref in raw):
        wrong["ticked"] = "One of the attributes is not on this screen."
    elif len(set(raw)) != len(raw):
        wrong["ticked"] = "One of the attributes is ticked twice."
    return {attribute_ids[ref] for ref in raw if ref in attribute_ids}


def _boxes(
    raw: object, attribute_ids: Mapping[str, int], ticked: set[int], wrong: dict[str, str]
) -> list[AnswerBox]:
    if not isinstance(raw, list):
        wrong["boxes"] = "Give a list of boxes."
        return []
    if len(raw) > MAX_BOXES * len(attribute_ids):
        wrong["boxes"] = f"At most {MAX_BOXES} boxes can be drawn for one answer."
        return []
    boxes = []
    for index, box in enumerate(raw):
        ref = box.get("attribute") if isinstance(box, Mapping) else None
        if not isinstance(box, Mapping) or not isinstance(ref, str) or ref not in attribute_ids:
            wrong[f"boxes.{index}.attribute"] = "The word is not on this screen."
        elif attribute_ids[ref] not in ticked:
            wrong[f"boxes.{index}.attribute"] = "A box was drawn for something that is not ticked."
        elif unknown := sorted(str(name) for name in box.keys() - {"attribute", *BOX_SIDES}):
            wrong[f"boxes.{index}.{unknown[0]}"] = "A box has no such field."
        elif problem := box_problem(box):
            wrong[f"boxes.{index}.{problem[0]}"] = problem[1]
        else:
            boxes.append(AnswerBox(attribute_ids[ref], *box_inside(box)))
    return boxes


def _unknown(data: Mapping[str, Any], field_names: set[str]) -> dict[str, str]:
    return {str(name): "There is no such field in this answer." for name in data if name not in field_names}


def _refuse(wrong: dict[str, str]) -> None:
    if wrong:
        fields = {f"answer.{name}": message for name, message in wrong.items()}
        raise DomainError("answer_invalid", " ".join(dict.fromkeys(wrong.values())), fields=fields)
