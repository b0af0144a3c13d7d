"""Adding, removing and moving rows of a draft with the buttons of its form."""

from dataclasses import dataclass
from typing import Any

from annotation.kinds.study_kinds import measures_for
from annotation.lead.kinds.draft import QUESTION_TYPES, Draft
from annotation.lead.kinds.screen import sound_kind

MEASURES = "measures"  # the button that chooses every measure that can be computed
NOUNS = {"questions": "Question", "points": "Point", "answers": "Answer", "standard_rules": "Rule"}
_POINTS = 5
_ANSWERS = 2


@dataclass(frozen=True)
class DraftChange:
    """The effect of a button: the part of the form to show next, and the message."""

    focus: str = ""
    sentence: str = ""


def changed(draft: Draft, action: str) -> DraftChange:
    """Change a draft as a button asks: `add questions scale`, `remove questions.2`, `up questions.1.points.3`."""
    verb, _, rest = action.partition(" ")
    path, _, type_ = rest.partition(" ")
    match verb:
        case "add":
            return _add(draft, path, type_)
        case "remove":
            return _remove(draft, path)
        case "up" | "down":
            return _move(draft, path, -1 if verb == "up" else 1)
        case "choose" if path == MEASURES:
            kind, _ = sound_kind(draft)
            offered = measures_for(kind) if kind else []
            draft[MEASURES] = [measure.name for measure in offered if measure.reads]
            return DraftChange(MEASURES, f"{len(draft[MEASURES])} measures are chosen.")
    return DraftChange()


def _add(draft: Draft, path: str, type_: str) -> DraftChange:
    rows = _rows(draft, path)
    name = path.rpartition(".")[2]
    if rows is None or (name == "questions" and type_ not in QUESTION_TYPES):
        return DraftChange()
    rows.append(_new_row(rows, name, type_))
    return DraftChange(f"{path}.{len(rows) - 1}", f"{NOUNS[name]} {len(rows)} is added.")


def _new_row(rows: list[Draft], name: str, type_: str) -> Draft:
    if name == "points":
        numbers = [row["code"] for row in rows if isinstance(row.get("code"), int)]
        return {"code": max(numbers, default=0) + 1, "label": {}}
    if name == "answers":
        return {"label": {}}
    if name != "questions":
        return {}
    names = {row.get("name") for row in rows}
    number = next(number for number in range(1, 1_000) if f"{type_}_{number}" not in names)
    row: Draft = {"type": type_, "name": f"{type_}_{number}", "label": {}, "required": True}
    if type_ == "scale":
        row["points"] = [{"code": code, "label": {}} for code in range(1, _POINTS + 1)]
    if type_ == "choice":
        row["answers"] = [{"label": {}} for _ in range(_ANSWERS)]
    return row


def _remove(draft: Draft, path: str) -> DraftChange:
    where, _, place = path.rpartition(".")
    rows = _rows(draft, where)
    if rows is None or not place.isdecimal() or int(place) >= len(rows):
        return DraftChange()
    del rows[int(place)]
    sentence = f"{NOUNS[where.rpartition('.')[2]]} {int(place) + 1} is removed."
    return DraftChange(f"{where}.{min(int(place), len(rows) - 1)}" if rows else where, sentence)


def _move(draft: Draft, path: str, step: int) -> DraftChange:
    where, _, place = path.rpartition(".")
    rows = _rows(draft, where)
    if rows is None or not place.isdecimal():
        return DraftChange()
    old, new = int(place), int(place) + step
    if not (0 <= old < len(rows) and 0 <= new < len(rows)):
        return DraftChange()
    rows[old], rows[new] = rows[new], rows[old]
    noun = NOUNS[where.rpartition(".")[2]]
    return DraftChange(f"{where}.{new}", f"{noun} {old + 1} is now {noun.lower()} {new + 1}.")


def _rows(draft: Draft, path: str) -> list[Draft] | None:
    """Return the rows at a path; None if there are none."""
    part: Any = draft
    for step in path.split("."):
        if isinstance(part, list):
            part = part[int(step)] if step.isdecimal() and int(step) < len(part) else None
        else:
            part = part.get(step) if isinstance(part, dict) else None
    return part if isinstance(part, list) and path.rpartition(".")[2] in NOUNS else None
