"""Calls in one chunk of memory: none maps memory at any depth."""

import resource
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from foundation.call_stack import in_one_chunk

pytestmark = pytest.mark.database_free

CALLS = 50


def _fewest_page_faults(*, depth: int) -> int:
    """Return page faults of 50 calls at a depth; the fewest of three tries, as the collector may cause some."""
    if depth:
        return _fewest_page_faults(depth=depth - 1)
    return min(_page_faults() for _ in range(3))


def _page_faults() -> int:
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    for _ in range(CALLS):
        _called(*range(20))
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before


def _called(*arguments: int) -> int:
    return len(arguments)


def test_calls_map_no_memory_at_any_depth():
    with ThreadPoolExecutor(1) as thread:  # the test itself is called in one chunk already
        run = partial(thread.submit, in_one_chunk(_fewest_page_faults))
        assert max(run(depth=depth).result() for depth in range(0, 400, 3)) < CALLS


def test_the_function_stays_what_it_is():
    assert in_one_chunk(_called).__name__ == "_called"
    assert in_one_chunk(_called)(1, 2) == 2
    with pytest.raises(ZeroDivisionError):
        in_one_chunk(divmod)(1, 0)
