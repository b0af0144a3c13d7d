"""Intervals in table rows as inline SVG, with the numbers as text."""

import math
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from foundation.formats import as_number, format_number, is_null, reason_text
from web.design.intervals import HEIGHT, WIDTH, IntervalDrawing, draw_interval

MIDDLE = HEIGHT / 2


def interval_svg(
    low: Any,
    estimate: Any,
    high: Any,
    minimum: Any,
    maximum: Any,
    *,
    reference: Any = None,
    scale: str = "linear",
    digits: int | None = None,
    level: int = 95,
    reason: str = "",
) -> SafeString:
    """Return an interval as SVG; an estimate without limits is a hollow dot."""
    low, estimate, high, reference = (
        None if is_null(v) else float(as_number(v)) for v in (low, estimate, high, reference)
    )
    upper = math.inf if has_no_upper_end(low, high, reason) else high
    drawing = draw_interval(
        low, estimate, upper, minimum=float(minimum), maximum=float(maximum), reference=reference, scale=scale
    )
    return format_html(
        '<svg viewBox="0 0 {} {}" role="img"><title>{}</title>{}</svg>',
        int(WIDTH),
        int(HEIGHT),
        interval_words(low, estimate, high, digits=digits, level=level, reason=reason),
        _shapes(drawing),
    )


def has_no_upper_end(low: Any, high: Any, reason: str) -> bool:
    """Return whether the interval has a lower end and extends to infinity."""
    return reason == "unbounded" and is_null(high) and not is_null(low)


def interval_words(
    low: Any, estimate: Any, high: Any, *, digits: int | None, level: int = 95, reason: str = ""
) -> str:
    """Return an interval in words, such as `3.10, 95 % interval 2.20 to 4.60`."""
    value = format_number(estimate, digits)
    if has_no_upper_end(low, high, reason):
        return f"{value}, {level} % interval from {format_number(low, digits)} without an upper end"
    if is_null(low) or is_null(high):
        why = reason_text(reason)
        return f"{value}, no interval: {why}" if why else f"{value}, no interval"
    return f"{value}, {level} % interval {format_number(low, digits)} to {format_number(high, digits)}"


def _shapes(drawing: IntervalDrawing) -> SafeString:
    whole = drawing.span_start is not None
    parts = [format_html('<line class="axis" x1="0" y1="{0}" x2="{1}" y2="{0}"></line>', MIDDLE, int(WIDTH))]
    if drawing.reference is not None:
        parts.append(
            format_html(
                '<line class="reference" x1="{0}" y1="1" x2="{0}" y2="{1}"></line>',
                drawing.reference,
                HEIGHT - 1,
            )
        )
    if whole:
        parts.append(
            format_html(
                '<line class="span" x1="{0}" y1="{2}" x2="{1}" y2="{2}"></line>',
                drawing.span_start,
                drawing.span_end,
                MIDDLE,
            )
        )
    if drawing.beyond_start:
        parts.append(mark_safe('<path class="beyond" d="M8 5 L1 10 L8 15 Z"></path>'))
    if drawing.beyond_end:
        parts.append(mark_safe('<path class="beyond" d="M152 5 L159 10 L152 15 Z"></path>'))
    if drawing.estimate is not None:
        name = "estimate" if whole else "estimate alone"
        parts.append(
            format_html('<circle class="{}" cx="{}" cy="{}" r="4"></circle>', name, drawing.estimate, MIDDLE)
        )
    return format_html_join("", "{}", ((part,) for part in parts))
