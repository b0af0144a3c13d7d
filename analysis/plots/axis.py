"""Axes of plots: positions of values, and ticks."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from foundation.formats import format_number, format_percent

_DECADES = [m * 10**e for e in range(-3, 4) for m in (1, 2, 5)]


@dataclass(frozen=True)
class Axis:
    """An axis; `kind` is share (0–1, shown as per cent), ratio (log scale), number or count (whole)."""

    low: float
    high: float
    kind: str
    reference: float | None = None
    label: str = ""

    def place(self, value: float) -> float:
        """Return the position from 0 to 1; values beyond the axis get its ends."""
        value = min(max(value, self.low), self.high)
        if self.low == self.high:
            return 0.5
        if self.kind == "ratio":
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        if self.kind == "ratio":
            inside = [tick for tick in _DECADES if self.low * 0.999 <= tick <= self.high * 1.001]
            return (
                inside if len(inside) <= 8 else [tick for tick in inside if str(tick).strip("0.")[:1] == "1"]
            )
        step = nice_step((self.high - self.low) / 4)
        first_step = math.ceil(self.low / step - 1e-9)
        return [round(k * step, 9) for k in range(first_step, math.floor(self.high / step + 1e-9) + 1)]

    def write(self, value: float) -> str:
        if self.kind == "share":
            return format_percent(value, 0)
        decimals = f"{value:.6f}".rstrip("0").partition(".")[2]
        return format_number(value, len(decimals))


def share_axis(values: Iterable[float | None], label: str) -> Axis:
    """Return an axis from 0 to the next multiple of 20 % above the largest share."""
    largest = max((value for value in values if value is not None), default=1.0)
    return Axis(0.0, min(1.0, max(0.2, math.ceil(largest * 5 - 1e-9) / 5)), "share", label=label)


def ratio_axis(values: Iterable[float | None], label: str, *, estimates: Iterable[float | None] = ()) -> Axis:
    """Return a log axis from ½ to 2, widened to the values between 1/20 and 50 and to all `estimates`.

    An interval may end beyond the axis, which an arrow shows; an estimate may not. 0 cannot be placed.
    """
    positive = [value for value in values if value is not None and value > 0]
    points = [value for value in estimates if value]
    low = min([max(0.05, min([0.5, *positive])), *points])
    high = max([min(50.0, max([2.0, *positive])), *points])
    below = max([tick for tick in _DECADES if tick <= low], default=_DECADES[0])
    above = min([tick for tick in _DECADES if tick >= high], default=_DECADES[-1])
    return Axis(below, above, "ratio", reference=1.0, label=label)


def centred_axis(values: Iterable[float | None], label: str, *, least: float) -> Axis:
    """Return an axis symmetric around 0, to a round number beyond the largest size, at least `least`."""
    furthest = max([least, *(abs(value) for value in values if value is not None)])
    step = nice_step(furthest / 2)
    most = step * math.ceil(furthest / step - 1e-9)
    return Axis(-most, most, "number", reference=0.0, label=label)


def nice_step(rough: float) -> float:
    """Return the next larger value among 1, 2, 2.5 and 5 times a power of ten."""
    if rough <= 0:
        return 1.0
    power = 10 ** math.floor(math.log10(rough))
    return float(next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * 0.999))
