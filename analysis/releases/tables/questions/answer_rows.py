"""Pages of answers to declared questions as columns of the released tables."""

from typing import Any

import pyarrow as pa

from analysis.releases.tables.label_columns import (
    Naming,
    Numbering,
    language_column,
    numbers,
    same,
    seconds_column,
    shared_columns,
)
from analysis.releases.tables.questions.answer_pages import ANSWERED, AnswerPage
from analysis.releases.tables.questions.stimulus_rows import ScreenNumbers

_SIDES = ("x", "y", "width", "height", "clipped")


def answer_tables(
    page: AnswerPage, naming: Naming, screens: ScreenNumbers, numbering: Numbering
) -> dict[str, dict[str, Any]]:
    """Return the columns that a page adds to each table, and count the numbers on."""
    tasks = page.annotations["task"]
    tables = {
        "annotations": _annotations(page, naming, screens.of_all(tasks), numbering),
        "answers": _answers(page, naming, screens.of_all(tasks[page.judgements["owner"]]), numbering),
        "places": _places(page, numbering),
    }
    numbering.annotation += len(tasks)
    numbering.answer += len(page.answers)
    return tables


def _annotations(page: AnswerPage, naming: Naming, tasks: list[int], numbering: Numbering) -> dict[str, Any]:
    count = len(tasks)
    return {
        "annotation": numbers(count, numbering.annotation),
        **shared_columns(page, naming, slice(None)),
        "kind": same(str(page.campaign.kind), count),
        "image": pa.nulls(count, pa.string()),
        "none_of_the_above": pa.nulls(count, pa.bool_()),
        "active_seconds": seconds_column(page),
        "justification": pa.nulls(count, pa.string()),
        "language": language_column(page),
        "task": tasks,
    }


def _answers(page: AnswerPage, naming: Naming, tasks: list[int], numbering: Numbering) -> dict[str, Any]:
    owner = page.judgements["owner"]
    return {
        "answer": numbers(len(owner), numbering.answer),
        "annotation": pa.array(owner + numbering.annotation),
        **shared_columns(page, naming, owner),
        "task": tasks,
        **{name: [answer[index] for answer in page.answers] for index, name in enumerate(ANSWERED)},
    }


def _places(page: AnswerPage, numbering: Numbering) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "answer": [place + numbering.answer for place, *_ in page.places],
        "shape": ["point" if width is None else "box" for _, _, _, width, *_ in page.places],
    }
    return columns | {name: [place[index] for place in page.places] for index, name in enumerate(_SIDES, 1)}
