"""The order of tests in parallel processes."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TypeVar

# The last tests are not slow: no process still runs one when the others have nothing left.
SPREAD_OVER = 0.85

T = TypeVar("T")


def spread(tests: Sequence[T], *, is_slow: Callable[[T], bool], module: Callable[[T], str]) -> list[T]:
    """Return the tests with the slow ones evenly among the others: while one waits, another has its core.

    Tests of a module share fixtures, so its slow tests stay together, and so do its others.
    """
    slow = _by_module([test for test in tests if is_slow(test)], module)
    others = _by_module([test for test in tests if not is_slow(test)], module)
    share = SPREAD_OVER * sum(map(len, others)) / max(sum(map(len, slow)), 1)
    ordered: list[T] = []
    slow_placed = others_placed = 0
    for block in slow:
        while others and others_placed < share * slow_placed:
            others_placed += len(others[0])
            ordered += others.pop(0)
        ordered += block
        slow_placed += len(block)
    return ordered + [test for block in others for test in block]


def _by_module(tests: Sequence[T], module: Callable[[T], str]) -> list[list[T]]:
    return [list(block) for _, block in groupby(tests, key=module)]
