"""Positions of the parts of an interval drawn in a table row."""

import math
from dataclasses import dataclass

WIDTH = 160.0
HEIGHT = 20.0
INSET = 8.0


@dataclass(frozen=True)
class IntervalDrawing:
    """Positions in SVG units. A part outside the axis is None, and `beyond_start` or `beyond_end` is set."""

    span_start: float | None
    span_end: float | None
    estimate: float | None
    reference: float | None
    beyond_start: bool
    beyond_end: bool


def draw_interval(
    low: float | None,
    estimate: float | None,
    high: float | None,
    *,
    minimum: float,
    maximum: float,
    reference: float | None = None,
    scale: str = "linear",
) -> IntervalDrawing:
    """Return the positions on an axis from `minimum` to `maximum` (`scale`: `linear`, or `log` for ratios)."""
    if scale not in ("linear", "log"):
        raise ValueError(f"scale must be 'linear' or 'log', not {scale!r}")
    if scale == "log" and minimum <= 0:
        raise ValueError(f"minimum of a log scale must be above 0, not {minimum!r}")
    if minimum > maximum:
        raise ValueError(f"minimum {minimum!r} must not be above maximum {maximum!r}")
    if low is not None and high is not None and low > high:
        raise ValueError(f"low {low!r} must not be above high {high!r}")

    def place(value: float) -> float:
        """Return the position of a value within the axis; the middle if the axis has no length."""
        if minimum == maximum:
            return WIDTH / 2
        low_end, high_end, position = (
            math.log(v) if scale == "log" else v for v in (minimum, maximum, value)
        )
        return round(INSET + (position - low_end) / (high_end - low_end) * (WIDTH - 2 * INSET), 2)

    def inside(value: float | None) -> float | None:
        return place(value) if value is not None and minimum <= value <= maximum else None

    values = [value for value in (low, estimate, high) if value is not None]
    whole = low is not None and high is not None
    overlaps = whole and high >= minimum and low <= maximum  # type: ignore[operator]
    return IntervalDrawing(
        span_start=place(max(low, minimum)) if overlaps and low is not None else None,
        span_end=place(min(high, maximum)) if overlaps and high is not None else None,
        estimate=inside(estimate),
        reference=inside(reference),
        beyond_start=any(value < minimum for value in values),
        beyond_end=any(value > maximum for value in values),
    )
