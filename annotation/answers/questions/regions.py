"""The boxes and points that belong to the answers of one screen."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from annotation.answers.geometry import (
    BOX_SIDES,
    POINT_SIDES,
    box_inside,
    box_problem,
    point_inside,
    point_problem,
)
from annotation.answers.questions.values import JudgementValue, Place, ScreenQuestions
from annotation.answers.text import is_text
from annotation.kinds.questions import Question, Region

MAX_PLACES = 50  # per answer
_TOO_MANY = f"At most {MAX_PLACES} places can be marked for one answer."
_NEEDED = {"box": "Draw a box around the place where you see it.", "point": "Mark the place with a point."}


def with_regions(
    judgements: list[JudgementValue],
    regions: Mapping[str, Any],
    screen: ScreenQuestions,
    wrong: dict[str, str],
) -> list[JudgementValue]:
    """Return the judgements, each with the places drawn for it; problems are added to `wrong`."""
    drawn = {question.name: question for question in screen.kind.questions if question.region is not None}
    for name in sorted(map(str, regions.keys() - drawn.keys())):
        shown = name[:40] if is_text(name[:40]) else "?"
        wrong[f"regions.{shown}"] = "This question does not ask for a place."
    complete = []
    places = {
        name: _places(question, regions.get(name, []), judgements, screen, wrong)
        for name, question in drawn.items()
    }
    for judgement in judgements:
        question = drawn.get(judgement.question)
        if question is None:
            complete.append(judgement)
            continue
        own = tuple(places[judgement.question][judgement.stimulus])
        field = _field(question, judgement)
        if len(own) > MAX_PLACES:
            wrong[field] = _TOO_MANY
        elif (
            not own and f"regions.{question.name}" not in wrong and _needs_place(question, judgement, screen)
        ):
            assert question.region is not None  # as in `drawn`
            wrong[field] = _NEEDED[question.region.shape]
        complete.append(judgement._replace(places=own))
    return complete


def _places(
    question: Question,
    raw: object,
    judgements: list[JudgementValue],
    screen: ScreenQuestions,
    wrong: dict[str, str],
) -> dict[str | None, list[Place]]:
    """Return the places sent for a question by the stimulus of the judgement to which they belong."""
    places: dict[str | None, list[Place]] = defaultdict(list)
    region = question.region
    assert region is not None  # the caller chose such questions
    if not isinstance(raw, list):
        wrong[f"regions.{question.name}"] = "Give a list of places."
        return places
    if len(raw) > MAX_PLACES * len(screen.refs):
        wrong[f"regions.{question.name}"] = _TOO_MANY
        return places
    marked = {
        judgement.stimulus or screen.refs[0]: judgement
        for judgement in judgements
        if judgement.question == question.name and _has_place(region, judgement)
    }
    for index, place in enumerate(raw):
        if problem := _problem(region, place, screen, marked):
            wrong[f"regions.{question.name}.{index}.{problem[0]}"] = problem[1]
        else:
            places[marked[place["stimulus"]].stimulus].append(_place(region, place))
    return places


def _problem(
    region: Region, raw: object, screen: ScreenQuestions, marked: Mapping[str, JudgementValue]
) -> tuple[str, str] | None:
    sides = BOX_SIDES if region.shape == "box" else POINT_SIDES
    ref = raw.get("stimulus") if isinstance(raw, Mapping) else None
    if not isinstance(raw, Mapping) or not isinstance(ref, str) or ref not in screen.refs:
        return "stimulus", "The word is not on this screen."
    if ref not in marked:
        return "stimulus", "This answer does not need a place in the picture."
    if unknown := sorted(str(name) for name in raw.keys() - {"stimulus", *sides}):
        return unknown[0][:40] if is_text(unknown[0][:40]) else "?", "A place has no such field."
    return box_problem(raw) if region.shape == "box" else point_problem(raw)


def _place(region: Region, raw: Mapping[str, Any]) -> Place:
    return Place(*(box_inside(raw) if region.shape == "box" else point_inside(raw)))


def _has_place(region: Region, judgement: JudgementValue) -> bool:
    """Return whether this answer needs a place."""
    answer = judgement.rating if judgement.rating is not None else judgement.code
    return not region.after or answer in region.after


def _needs_place(question: Question, judgement: JudgementValue, screen: ScreenQuestions) -> bool:
    region = question.region
    return region is not None and screen.needs_region(question) and _has_place(region, judgement)


def _field(question: Question, judgement: JudgementValue) -> str:
    return f"regions.{question.name}" + ("" if judgement.stimulus is None else f".{judgement.stimulus}")
