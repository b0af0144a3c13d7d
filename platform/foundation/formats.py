"""Formatting of numbers, shares and reasons for people. Missing values are a dash with a reason."""

import math
from decimal import Decimal
from typing import SupportsFloat

MINUS = "\u2212"
NARROW_SPACE = "\u202f"
DASH = "\u2014"


def is_null(value: object) -> bool:
    """Return whether a value is not a finite number: None, "", NaN or infinity."""
    if value is None or value == "":
        return True
    if isinstance(value, int | float | Decimal):  # a class, unlike a protocol, is quick to check
        return not math.isfinite(value)
    return isinstance(value, SupportsFloat) and not math.isfinite(float(value))


def format_number(value: object, digits: int | None = None, *, signed: bool = False) -> str:
    """Return `value` with thousands separators and a real minus; by default, two decimals for non-integers."""
    if is_null(value):
        return DASH
    amount = as_number(value)
    if digits is None:
        digits = 0 if isinstance(amount, int) else 2
    text = f"{abs(amount):,.{digits}f}"
    # A value that rounds to zero has no sign.
    if not any(figure in "123456789" for figure in text):
        return text
    if amount < 0:
        return MINUS + text
    return "+" + text if signed else text


def format_percent(share: object, digits: int = 0) -> str:
    """Return a share between 0 and 1 as a percentage."""
    if is_null(share):
        return DASH
    return f"{format_number(float(as_number(share)) * 100, digits)}{NARROW_SPACE}%"


def format_duration(seconds: float) -> str:
    """Return a duration in one unit, rounded to whole seconds, minutes or hours, or to 0.1 days."""
    for limit, size, unit in ((90, 1, "second"), (5_400, 60, "minute"), (129_600, 3_600, "hour")):
        if seconds < limit:
            number = max(1, round(seconds / size))
            return f"{number} {unit}{'' if number == 1 else 's'}"
    return f"{seconds / 86_400:,.1f} days"


def reason_text(reason: object) -> str:
    """Return the code of a reason (`too_few_annotators`) in words; sentences are unchanged."""
    return str(reason or "").replace("_", " ").strip()


def as_number(value: object) -> int | float | Decimal:
    """Return `value` as a number that Python can format; raise ValueError for other types."""
    if isinstance(value, int | float | Decimal):
        return value
    if isinstance(value, SupportsFloat):  # numpy scalars, fractions
        number = float(value)
        return int(number) if hasattr(value, "__index__") else number
    raise ValueError(f"a number is needed to format, not {value!r}")
