"""Answers to questions as rows: judgements with their boxes and points."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db import connection

from annotation.answers.geometry import BOX_SIDES, POINT_SIDES
from annotation.answers.questions.stimuli import shown_stimuli
from annotation.answers.questions.validation import QuestionAnswers
from annotation.answers.questions.values import JudgementValue, Place
from annotation.assignment import sql
from annotation.models import Annotation, Box, Point, Task
from foundation.database.statements import changed, insert, rows

_VALUES = ("present", "rating", "code", "rank", "text")


def store(values: Mapping[str, Any], answers: QuestionAnswers, task: Task) -> int:
    """End the assignment and write annotation, judgements and regions; return the annotation's id.

    `values` are the columns of assignment and annotation.
    """
    ids = {stimulus.ref: stimulus.stimulus_id for stimulus in shown_stimuli(task)}
    if connection.vendor == "postgresql":
        return int(rows(sql.STORE_QUESTIONS, {**values, **_arrays(answers.judgements, ids)})[0][0])
    changed(sql.END_ASSIGNMENT, values)
    annotation_id = int(rows(sql.INSERT_ANNOTATION, values)[0][0])
    lines = [
        (annotation_id, judgement.question, _id_of(judgement, ids), *_value(judgement))
        for judgement in answers.judgements
    ]
    inserted = insert(sql.QUESTION_COLUMNS, lines, "question, stimulus_id, id")
    judgement_ids = {(question, stimulus): pk for question, stimulus, pk in inserted}
    boxes, points = [], []
    for question, stimulus, place in _places(answers.judgements, ids):
        judgement_id = judgement_ids[question, stimulus]
        if place.width is None:
            points.append((judgement_id, place.x, place.y))
        else:
            boxes.append((judgement_id, *place, False))
    insert(sql.BOX_COLUMNS, boxes, "id")
    insert(sql.POINT_COLUMNS, points, "id")
    return annotation_id


def stored_answers(annotation: Annotation) -> QuestionAnswers:
    """Return the answer of a stored annotation with declared questions."""
    refs = {stimulus.stimulus_id: stimulus.ref for stimulus in shown_stimuli(annotation.task)}
    judgements = annotation.judgements.order_by("pk")
    places = _stored_places(annotation)
    return QuestionAnswers(
        tuple(
            JudgementValue(
                judgement.question,
                None if judgement.stimulus_id is None else refs[judgement.stimulus_id],
                judgement.present,
                judgement.rating,
                judgement.code,
                judgement.rank,
                judgement.text,
                tuple(places[judgement.pk]),
            )
            for judgement in judgements  # stored in the order of the declaration and the screen
        )
    )


def _stored_places(annotation: Annotation) -> dict[int, list[Place]]:
    places: dict[int, list[Place]] = defaultdict(list)
    boxes = Box.objects.filter(judgement__annotation=annotation).order_by("pk")
    for pk, *sides in boxes.values_list("judgement_id", "x", "y", "width", "height"):
        places[pk].append(Place(*sides))
    points = Point.objects.filter(judgement__annotation=annotation).order_by("pk")
    for pk, x, y in points.values_list("judgement_id", "x", "y"):
        places[pk].append(Place(x, y))
    return places


def _value(judgement: JudgementValue) -> tuple[object, ...]:
    return tuple(getattr(judgement, name) for name in _VALUES)


def _id_of(judgement: JudgementValue, ids: Mapping[str, int]) -> int | None:
    return None if judgement.stimulus is None else ids[judgement.stimulus]


def _places(
    judgements: Sequence[JudgementValue], ids: Mapping[str, int]
) -> Iterator[tuple[str, int | None, Place]]:
    """Yield each place with the question and the stimulus of its judgement, which identify the judgement."""
    for judgement in judgements:
        for place in judgement.places:
            yield judgement.question, _id_of(judgement, ids), place


def _arrays(judgements: Sequence[JudgementValue], ids: Mapping[str, int]) -> dict[str, Any]:
    """Return judgements, boxes and points as one array for each column."""
    places = list(_places(judgements, ids))
    boxes = [line for line in places if line[2].width is not None]
    points = [line for line in places if line[2].width is None]
    arrays: dict[str, Any] = {
        "questions": [judgement.question for judgement in judgements],
        "stimuli": [_id_of(judgement, ids) for judgement in judgements],
    }
    arrays |= {f"{name}_values": [getattr(judgement, name) for judgement in judgements] for name in _VALUES}
    for shape, lines in (("box", boxes), ("point", points)):
        arrays[f"{shape}_questions"] = [question for question, _, _ in lines]
        arrays[f"{shape}_stimuli"] = [stimulus for _, stimulus, _ in lines]
        for side in BOX_SIDES if shape == "box" else POINT_SIDES:
            arrays[f"{shape}_{side}"] = [getattr(place, side) for _, _, place in lines]
    return arrays
