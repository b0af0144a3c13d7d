"""The results of one annotation of Label Studio, control by control."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from annotation.label_studio.format.names import Names
from catalog.attributes import normalise
from foundation.errors import DomainError

# Rounding errors beyond an edge do not make a box lie outside the image.
_SLACK = 1e-6
_LABELS = ("rectanglelabels", "labels")
_HALVES = re.compile("[\ud800-\udfff]")


@dataclass
class Answered:
    """The contents of one annotation. `wrong` maps an attribute to the reason why its judgement cannot be imported."""

    ticked: set[str] = field(default_factory=set)
    boxes: dict[str, list[float]] = field(
        default_factory=dict
    )  # left, top, width, height in percent, in a row
    wrong: dict[str, str] = field(default_factory=dict)
    none_of_the_above: str = ""
    rating: str = ""
    justification: str = ""
    annotator: str = ""
    size: tuple[int, int] | None = None
    other: int = 0  # results of controls that are not mapped


def read_results(results: list[Any], names: Names) -> Answered:
    """Read the results of an annotation. Raises ValueError if the annotation cannot be imported."""
    fields = {control: name for name, control in names.controls.items() if control}
    answered = Answered()
    for result in results:
        if not isinstance(result, Mapping) or not isinstance(result.get("value", {}), Mapping):
            raise ValueError("a result is not an object with a value")
        if result.get("type") == "relation":
            answered.other += 1
            continue
        name = fields.get(str(result.get("from_name")))
        value = result.get("value", {})
        if name is None:
            answered.other += 1
        elif name == "box":
            _read_region(result, value, answered)
        elif name == "present":
            answered.ticked |= {_attribute(text) for text in texts_of(value, "choices")}
        elif name == "rating" and "rating" in value:
            answered.rating = _stars(value["rating"])
        elif name in ("none_of_the_above", "rating"):
            setattr(answered, name, _one(texts_of(value, "choices"), name))
        else:
            setattr(answered, name, "\n".join(texts_of(value, "text")))
    return answered


def _stars(value: object) -> str:
    """Return the number of stars."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        raise ValueError("a star rating is not a whole number")
    return str(int(value))


def _read_region(result: Mapping[str, Any], value: Mapping[str, Any], answered: Answered) -> None:
    labels = [_attribute(text) for key in _LABELS for text in (texts_of(value, key) if key in value else [])]
    if not labels:
        # A rectangle and its label may be two results with one id: the one without a label adds nothing.
        if result.get("type") == "rectangle":
            return
        raise ValueError(f"a region of type “{_kind(result)}” has no label of an attribute")
    try:
        numbers = rectangle_of(result, value)
    except ValueError as error:
        answered.wrong.update(dict.fromkeys(labels, str(error)))
        return
    answered.size = answered.size or size_of(result.get("original_width"), result.get("original_height"))
    for label in labels:
        answered.boxes.setdefault(label, []).extend(numbers)


def rectangle_of(result: Mapping[str, Any], value: Mapping[str, Any]) -> list[float]:
    """Return left, top, width and height in percent; raises ValueError if it is not an upright rectangle."""
    if number_of(value.get("rotation") or 0, "rotation") % 360 or number_of(
        result.get("image_rotation") or 0, "rotation"
    ):
        raise ValueError("a rectangle is rotated: only boxes that are not rotated can be imported")
    if not {"x", "y", "width", "height"} <= value.keys():
        raise ValueError(f"a region of type “{_kind(result)}” is not a rectangle")
    x, top, width, height = (number_of(value[name], name) for name in ("x", "y", "width", "height"))
    (x, width), (top, height) = _inside(x, width), _inside(top, height)
    return [x, top, width, height]


def _inside(start: float, length: float) -> tuple[float, float]:
    """Return start and length, with rounding errors beyond 0 and 100 removed."""
    if -_SLACK <= start < 0:
        start, length = 0.0, length + start
    if 100 < start + length <= 100 + _SLACK:
        length = 100 - start
        # Because of rounding, start and the new length may again add up to slightly more than 100.
        if start + length > 100:
            length = math.nextafter(length, 0)
    return start, length


def number_of(value: object, name: str, shape: str = "rectangle") -> float:
    """Return a number of a region; raises ValueError if it is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"the {name} of a {shape} is not a number")
    try:
        number = float(value)
    except OverflowError:  # JSON allows whole numbers of any length
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"the {name} of a {shape} is not a number")
    return number


def size_of(width: object, height: object) -> tuple[int, int] | None:
    """Return a size in pixels, or None if it is not a size."""
    if type(width) is int and type(height) is int and 0 < width <= 100_000 and 0 < height <= 100_000:
        return width, height
    return None


def texts_of(value: Mapping[str, Any], key: str) -> list[str]:
    """Return the texts of a result, which may be a single text; raises ValueError if they are not texts."""
    texts = value.get(key, [])
    texts = [texts] if isinstance(texts, str) else texts
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"the {key} of a result are not a list of texts")
    return [whole(text) for text in texts]


def whole(text: str) -> str:
    """Return a text; raises ValueError if it contains half a character, which JSON allows but no database stores."""
    if _HALVES.search(text):
        raise ValueError("a text contains half a character")
    return text


def _kind(result: Mapping[str, Any]) -> str:
    return str(result.get("type"))[:40].encode("utf-8", "replace").decode()


@lru_cache(maxsize=10_000)  # the same few texts occur many times
def _attribute(text: str) -> str:
    try:
        return normalise(text)
    except DomainError as error:
        raise ValueError(error.message.rstrip(".")) from error


def _one(texts: list[str], name: str) -> str:
    if len(texts) > 1:
        raise ValueError(f"{name} has {len(texts)} answers, but only one is allowed")
    return texts[0] if texts else ""
