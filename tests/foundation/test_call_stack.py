"""Calls in one chunk of memory: none maps memory at any depth."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from foundation.call_stack import in_one_chunk

pytestmark = pytest.mark.database_free

CALLS = 50
ROOT = Path(__file__).resolve().parents[2]


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


def faults_at_worst_depth(called: Callable[..., int] = _fewest_page_faults) -> int:
    """Return the most page faults of 50 calls at any depth of a thread."""
    with ThreadPoolExecutor(1) as thread:
        return max(thread.submit(called, depth=depth).result() for depth in range(0, 400, 3))


def test_calls_map_no_memory_at_any_depth():
    # In a thread, as the test itself is called in one chunk already.
    assert faults_at_worst_depth(in_one_chunk(_fewest_page_faults)) < CALLS


def test_threads_of_the_web_server_map_no_memory_at_any_depth():
    program = (
        "import config.wsgi\n"
        "from tests.foundation.test_call_stack import faults_at_worst_depth\n"
        "print(faults_at_worst_depth())"
    )
    environment = {**os.environ, "PYTHONPATH": "platform:."}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < CALLS


def test_the_function_stays_what_it_is():
    assert in_one_chunk(_called).__name__ == "_called"
    assert in_one_chunk(_called)(1, 2) == 2
    with pytest.raises(ZeroDivisionError):
        in_one_chunk(divmod)(1, 0)
