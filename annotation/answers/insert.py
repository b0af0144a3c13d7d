"""Writing down an answer: the annotation, a judgement for each attribute asked, and the boxes drawn.

One statement on PostgreSQL, where each costs a round trip; several on SQLite, which cannot put inserts together.
"""

# ruff: noqa: S608 -- the queries are put together from constants of this module; values are parameters

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection

from annotation.answers.validation import Answer
from foundation.database.statements import changed, rows

_SUBMITTED = "UPDATE annotation_assignment SET state = 'submitted', ended_at = %(now)s WHERE id = %(id)s"
_ANNOTATION = """
    INSERT INTO annotation_annotation (submission_id, campaign_id, task_id, annotator_id, assignment_id,
        instrument_id, revision, is_latest, status, status_reason, none_of_the_above, justification,
        active_seconds)
    VALUES (%(submission)s, %(campaign)s, %(task)s, %(annotator)s, %(id)s,
        %(instrument)s, 1, %(latest)s, %(status)s, '', %(none)s, %(justification)s, %(seconds)s)
    RETURNING id
"""
_JUDGEMENT_COLUMNS = "annotation_judgement (annotation_id, attribute_id, present, rating)"
_BOX_COLUMNS = "annotation_box (judgement_id, x, y, width, height, clipped)"
# Rows are numbered in the order given: what was drawn first stays first.
_AT_ONCE = f"""
    WITH submitted AS ({_SUBMITTED}),
    annotation AS ({_ANNOTATION}),
    judgement AS (
        INSERT INTO {_JUDGEMENT_COLUMNS}
        SELECT a.id, j.attribute_id, j.present, %(rating)s::smallint
        FROM annotation a,
             unnest(%(attributes)s::bigint[], %(present)s::boolean[]) WITH ORDINALITY
             AS j(attribute_id, present, number)
        ORDER BY j.number RETURNING id, attribute_id),
    box AS (
        INSERT INTO {_BOX_COLUMNS}
        SELECT j.id, b.x, b.y, b.width, b.height, FALSE
        FROM unnest(%(boxed)s::bigint[], %(x)s::float8[], %(y)s::float8[],
                    %(width)s::float8[], %(height)s::float8[]) WITH ORDINALITY
             AS b(attribute_id, x, y, width, height, number)
        JOIN judgement j ON j.attribute_id = b.attribute_id
        ORDER BY b.number)
    SELECT id FROM annotation
"""


def save(values: Mapping[str, Any], *, asked: Sequence[int], answer: Answer) -> int:
    """End the assignment and store its answer to the attributes `asked`; return the annotation's id.

    `values` are the columns of `_ANNOTATION`, and `now`.
    """
    if connection.vendor == "postgresql":
        return int(rows(_AT_ONCE, {**values, **_arrays(asked, answer)})[0][0])
    changed(_SUBMITTED, values)
    annotation_id = int(rows(_ANNOTATION, values)[0][0])
    judged = [(annotation_id, one, present, answer.rating) for one, present in _presence(asked, answer)]
    ids = dict(_insert(_JUDGEMENT_COLUMNS, judged, "attribute_id, id"))
    if boxes := answer.boxes:
        drawn = [(ids[one.attribute_id], one.x, one.y, one.width, one.height, False) for one in boxes]
        _insert(_BOX_COLUMNS, drawn, "id")
    return annotation_id


def _presence(asked: Sequence[int], answer: Answer) -> list[tuple[int, bool | None]]:
    return [(one, None if answer.rating is not None else one in answer.ticked) for one in asked]


def _arrays(asked: Sequence[int], answer: Answer) -> dict[str, Any]:
    """Return judgements and boxes as one array for each column."""
    boxes = answer.boxes
    return {
        "rating": answer.rating,
        "attributes": list(asked),
        "present": [present for _, present in _presence(asked, answer)],
        "boxed": [one.attribute_id for one in boxes],
        "x": [one.x for one in boxes],
        "y": [one.y for one in boxes],
        "width": [one.width for one in boxes],
        "height": [one.height for one in boxes],
    }


def _insert(columns: str, lines: Sequence[Sequence[Any]], returning: str) -> list[tuple[Any, ...]]:
    places = ", ".join([f"({', '.join(['%s'] * len(lines[0]))})"] * len(lines))
    values = [value for line in lines for value in line]
    return rows(f"INSERT INTO {columns} VALUES {places} RETURNING {returning}", values)
