"""Payloads of kinds that are declared by their questions, one for each layout and each type of question."""

from typing import Any

from tests.annotation.annotator.scripts.pages import FIRST, marking


def picture(number: int, assignment: str = FIRST, **size: int) -> dict[str, Any]:
    """Return the picture at a place of a task."""
    image = {"url": f"/picture/{assignment[0]}-{number}.svg", "width": 400, "height": 400} | size
    return {"ref": f"s{number}", "image": image}


def text(number: int, words: str) -> dict[str, Any]:
    return {"ref": f"s{number}", "text": words}


def question(name: str, type: str, label: str, **of_type: Any) -> dict[str, Any]:
    """Return a question that is required, asked once and always, and without a place."""
    more = {"required": True, "each": False, "when": None, "region": None}
    return {"name": name, "type": type, "label": label, **more, **of_type}


def scale(name: str = "quality", label: str = "How good is the picture?", **changes: Any) -> dict[str, Any]:
    """Return a scale of 1 to 3, and 0 apart."""
    labels = {1: "Poor", 2: "Fair", 3: "Good"}
    points = [{"code": code, "label": words, "apart": False} for code, words in labels.items()]
    points.append({"code": 0, "label": "Unsure", "apart": True})
    return question(name, "scale", label, **{"points": points} | changes)


def choice(name: str = "fault", label: str = "What is wrong?", **changes: Any) -> dict[str, Any]:
    answers = [{"code": "hands", "label": "Hands"}, {"code": "face", "label": "Face"}]
    answers.append({"code": "nothing", "label": "Nothing", "alone": True})
    return question(name, "choice", label, **{"answers": answers, "several": False} | changes)


def compare(
    name: str = "better", label: str = "Which picture fits the prompt better?", **changes: Any
) -> dict[str, Any]:
    return question(name, "compare", label, **{"tie": "Equally good"} | changes)


def rank(
    name: str = "order", label: str = "Order the pictures, the best first.", **changes: Any
) -> dict[str, Any]:
    return question(name, "rank", label, **{"ties": False} | changes)


def words(
    name: str = "missed", label: str = "Which words does the picture miss?", **changes: Any
) -> dict[str, Any]:
    return question(name, "span", label, **{"none": "None of them"} | changes)


def comment(name: str = "why", label: str = "Why?", **changes: Any) -> dict[str, Any]:
    return question(name, "text", label, **{"longest": 200} | changes)


def region(shape: str = "box", *, required: bool = False, after: tuple[Any, ...] = ()) -> dict[str, Any]:
    return {"shape": shape, "required": required, "after": list(after)}


def asking(
    *questions: dict[str, Any], assignment: str = FIRST, pictures: int = 1, **changes: Any
) -> dict[str, Any]:
    """Return the payload of a task that asks these questions about so many pictures."""
    layout = "one" if pictures == 1 else "side_by_side" if pictures == 2 else "grid"
    payload = marking(assignment)
    for name in ("image", "attributes", "boxes_required"):
        del payload[name]
    return payload | {
        "kind": "judging",
        "layout": layout,
        "stimuli": [picture(number, assignment) for number in range(1, pictures + 1)],
        "prompt": None,
        "questions": list(questions),
        **changes,
    }
