"""Campaigns' declarations as rows of a release: their questions, and the answers that they offer."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from annotation.kinds.declaration import Kind
from annotation.kinds.parts import Texts
from annotation.kinds.questions import Question
from annotation.kinds.registry import kind_of
from annotation.models import Campaign

Row = dict[str, Any]


def question_rows(declared: Sequence[tuple[str, Kind]]) -> list[Row]:
    """Return rows of `questions`, for pairs of campaign and kind."""
    return [
        {
            "campaign": campaign,
            "number": number,
            "question": question.name,
            "type": question.type,
            **_labelled(question.label),
            "each": question.each,
            "required": question.required,
            "several": is_several(question),
            "when_question": question.when.question if question.when else None,
            "when_answers": _json(question.when.answers) if question.when else None,
            "place": question.region.shape if question.region else None,
            "place_after": _json(question.region.after) if question.region else None,
        }
        for campaign, kind in declared
        for number, question in enumerate(kind.questions, start=1)
    ]


def option_rows(declared: Sequence[tuple[str, Kind]]) -> list[Row]:
    """Return rows of `options`, for pairs of campaign and kind."""
    return [
        {
            "campaign": campaign,
            "question": question.name,
            "number": number,
            "code": code,
            **_labelled(label),
            "apart": apart,
            "alone": alone,
        }
        for campaign, kind in declared
        for question in kind.questions
        for number, (code, label, apart, alone) in enumerate(options_of(question), start=1)
    ]


def options_of(question: Question) -> Iterator[tuple[str, Texts, bool, bool]]:
    """Yield the code and label of each labelled answer, whether it is separate from the scale, and whether it excludes
    others."""
    match question.type:
        case "scale":
            yield from ((str(point.code), point.label, point.apart, False) for point in question.points)
        case "choice":
            yield from ((answer.code, answer.label, False, answer.alone) for answer in question.answers)
        case "compare" if question.tie is not None:
            yield "tie", question.tie, False, False
        case "span" if question.none is not None:
            yield "none", question.none, False, True


def is_several(question: Question) -> bool:
    """Whether an answer to the question can be more than one row."""
    return question.type == "span" or (question.type == "choice" and question.several)


def declaration_of(campaign: Campaign) -> Row:
    """Return a campaign's stored declaration: fields that kinds get later must not change its bytes."""
    return campaign.declaration or kind_of(campaign).model_dump(mode="json")


def columns_from(rows: Sequence[Row], names: Sequence[str]) -> dict[str, list[Any]]:
    """Return rows as columns."""
    return {name: [row[name] for row in rows] for name in names}


def _labelled(label: Texts) -> Row:
    return {"label": label["en"], "labels": _json(label)}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
