"""Rectangles and points on an image, as clients send them: fractions of its width and height."""

import math
from collections.abc import Mapping
from typing import Any, TypeGuard

BOX_SIDES = ("x", "y", "width", "height")
POINT_SIDES = ("x", "y")
# Fractions of a pixel lost in rounding are forgiven; the constraint on Box allows as much.
_SLACK = 1e-6
_LARGEST = 10**15


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a JSON value is a number in the range of floats: whole numbers may have thousands of digits."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= _LARGEST if isinstance(value, int) else math.isfinite(value)


def point_problem(raw: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return which side of a point is wrong, and why."""
    for name in POINT_SIDES:
        if not is_number(raw.get(name)):
            return name, "Give a number."
        if not -_SLACK <= raw[name] <= 1 + _SLACK:
            return name, "The box lies outside the picture."
    return None


def box_problem(raw: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return which side of a rectangle is wrong, and why."""
    for name in BOX_SIDES:
        if not is_number(raw.get(name)):
            return name, "Give a number."
    for start, length in (("x", "width"), ("y", "height")):
        if not -_SLACK <= raw[start] <= 1 + _SLACK:
            return start, "The box lies outside the picture."
        if raw[length] <= 0 or raw[start] >= 1 or raw[start] + raw[length] <= 0:
            return length, "The box has no area."
        if raw[start] + raw[length] > 1 + _SLACK:
            return length, "The box reaches outside the picture."
    return None


def point_inside(raw: Mapping[str, Any]) -> tuple[float, float]:
    """Return the sides of a checked point, moved into the image if rounding put it outside."""
    return _fraction(raw["x"]), _fraction(raw["y"])


def box_inside(raw: Mapping[str, Any]) -> tuple[float, float, float, float]:
    """Return the sides of a checked rectangle, cut to the image if rounding put it outside."""
    x, y = max(0.0, float(raw["x"])), max(0.0, float(raw["y"]))
    return x, y, min(float(raw["width"]), 1 - x), min(float(raw["height"]), 1 - y)


def _fraction(value: float) -> float:
    return min(1.0, max(0.0, float(value)))
