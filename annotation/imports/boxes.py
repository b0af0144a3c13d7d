"""Parse boxes written by other tools into fractions of the image."""

import re
from dataclasses import dataclass

from django.db.models import TextChoices

_NUMBER = re.compile(r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d{1,3})?")
_MARKS = str.maketrans("[](){}\"',;|", "           ")
SORTED = "corners of the box sorted"
CLIPPED = "box clipped to the image"
NO_AREA = "box without area dropped"
UNMARKED = "box dropped because its attribute was not marked"


class BoxFormat(TextChoices):
    """The meaning of the four numbers of a box."""

    CORNERS = "corners", "two opposite corners x, y, x, y in pixels, in any order"
    XYWH = "xywh", "left, top, width, height in pixels"
    PERCENT = "percent", "left, top, width, height in percent of the image"


@dataclass(frozen=True)
class ParsedBox:
    """A box in fractions of the image, with the repairs made."""

    x: float
    y: float
    width: float
    height: float
    repairs: tuple[str, ...] = ()

    @property
    def clipped(self) -> bool:
        return CLIPPED in self.repairs


def parse_numbers(text: str) -> list[float]:
    """Return the numbers of a cell such as `["3,54", "507,510"]`, `[[3, 54, 507, 510]]` or `3 54 507 510`.

    Brackets, quotes, commas and spaces are separators. Raises ValueError for anything else, including `nan`.
    """
    numbers = []
    for word in text.translate(_MARKS).split():
        if not _NUMBER.fullmatch(word):
            raise ValueError(f"“{text[:60]}” are not coordinates")
        numbers.append(float(word))
    return numbers


def boxes_of(
    numbers: list[float], box_format: BoxFormat, size: tuple[float, float] | None
) -> tuple[list[ParsedBox], set[str]]:
    """Return the boxes and the names of all repairs; `size` is the image's width and height in pixels.

    Raises ValueError if there are not four numbers per box, or if a size is needed and unknown.
    """
    if len(numbers) % 4:
        raise ValueError(f"the box has {len(numbers)} numbers, but a box needs four")
    if numbers and size is None and box_format != BoxFormat.PERCENT:
        raise ValueError("the box is in pixels and the size of the image is not known")
    boxes, repairs = [], set[str]()
    for start in range(0, len(numbers), 4):
        box, box_repairs = _box(numbers[start : start + 4], box_format, size or (100.0, 100.0))
        repairs |= box_repairs
        if box is not None:
            boxes.append(box)
    return boxes, repairs


def _box(
    numbers: list[float], box_format: BoxFormat, size: tuple[float, float]
) -> tuple[ParsedBox | None, set[str]]:
    width, height = (100.0, 100.0) if box_format == BoxFormat.PERCENT else size
    x1, y1, x2, y2 = numbers
    if box_format != BoxFormat.CORNERS:
        x2, y2 = x1 + x2, y1 + y2
    repairs = set()
    if x1 > x2 or y1 > y2:
        repairs.add(SORTED)
        x1, x2 = min(x1, x2), max(x1, x2)
        y1, y2 = min(y1, y2), max(y1, y2)
    if x1 < 0 or y1 < 0 or x2 > width or y2 > height:
        repairs.add(CLIPPED)
        x1, x2 = (min(max(value, 0.0), width) for value in (x1, x2))
        y1, y2 = (min(max(value, 0.0), height) for value in (y1, y2))
    x, y = x1 / width, y1 / height
    wide, high = x2 / width - x, y2 / height - y
    if not (wide > 0 and high > 0):
        return None, repairs | {NO_AREA}
    return ParsedBox(x, y, wide, high, tuple(repairs)), repairs
