"""Calls at different depths of Python's stack, in its own chunks of memory and in one (`foundation.call_stack`).

Each measurement runs in a new thread, whose stack begins with an empty chunk.
"""

import resource
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.table import Row

ROOT = Path(__file__).resolve().parents[1]
CALLS = 2000
DEPTHS = range(0, 300, 3)
LIMIT_FAULTS = 0.1
LIMIT_RATIO = 1.5
Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]


def run() -> Iterable[Row]:
    """Time calls at a hundred depths; compare the slowest depth with the median."""
    sys.path.insert(0, str(ROOT / "platform"))
    from foundation.call_stack import in_one_chunk

    for name, wrap in (("in chunks of 16 kB", None), ("in one chunk", in_one_chunk)):
        faults, ratio = _worst_depth(wrap)
        limited = wrap is not None
        yield Row(
            f"page faults of a call at the worst depth, {name}",
            f"{faults:.2f}",
            f"≤ {LIMIT_FAULTS}" if limited else "",
            not limited or faults <= LIMIT_FAULTS,
        )
        yield Row(
            f"time of a call at the slowest depth, {name}",
            f"{ratio:.1f} × the median depth",
            f"≤ {LIMIT_RATIO}" if limited else "",
            not limited or ratio <= LIMIT_RATIO,
        )
    yield Row(
        "additional time of a call that is wrapped", f"{_cost_of_wrapping(in_one_chunk):.1f} µs", "", True
    )


def _worst_depth(wrap: Wrap | None) -> tuple[float, float]:
    """Return page faults of a call and the ratio of times, both at the worst depth."""
    measure = wrap(_at_depth) if wrap else _at_depth
    with ThreadPoolExecutor(1) as thread:
        measured = [thread.submit(partial(measure, depth)).result() for depth in DEPTHS]
    times = sorted(seconds for _, seconds in measured)
    return max(faults for faults, _ in measured) / CALLS, times[-1] / times[len(times) // 2]


def _at_depth(depth: int) -> tuple[int, float]:
    """Return page faults and seconds of `CALLS` calls, `depth` calls further down: the least of three tries."""
    if depth:
        return _at_depth(depth - 1)
    tries = [_calls() for _ in range(3)]
    return min(faults for faults, _ in tries), min(seconds for _, seconds in tries)


def _calls() -> tuple[int, float]:
    faults, start = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt, time.perf_counter()
    for _ in range(CALLS):
        _called(*range(20))
    seconds = time.perf_counter() - start
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - faults, seconds


def _called(*arguments: int) -> int:
    return len(arguments)


def _cost_of_wrapping(wrap: Wrap) -> float:
    """Return the microseconds that wrapping adds to a call: the least of twenty tries."""
    wrapped = wrap(_called)
    with ThreadPoolExecutor(1) as thread:
        plain, other = (thread.submit(_shortest, called).result() for called in (_called, wrapped))
    return 1e6 * (other - plain)


def _shortest(called: Callable[..., int]) -> float:
    def seconds() -> float:
        start = time.perf_counter()
        for _ in range(100):
            called(1)
        return (time.perf_counter() - start) / 100

    return min(seconds() for _ in range(20))
