"""Worker processes on a benchmark's platform, and waiting for their results."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from benchmarks.web_server import ROOT, Platform

T = TypeVar("T")

_ALIVE = "from jobs.engine.workers import alive; print(alive().count())"


@contextmanager
def worker(installation: Platform, *options: str) -> Iterator[None]:
    """Run a worker in a separate process until the block ends."""
    process = subprocess.Popen(
        [sys.executable, "manage.py", "worker", "-v", "0", *options],
        cwd=ROOT,
        env=installation.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=60)


def wait_for_workers(installation: Platform, number: int, *, patience: float) -> None:
    """Wait until `number` workers have started."""
    wait_until(lambda: int(installation.shell(_ALIVE)) >= number, patience=patience)


def wait_until(reached: Callable[[], T], *, patience: float, pause: float = 0.2) -> T:
    """Return the first true result of a function called every `pause` seconds; an error after `patience` seconds."""
    end = time.monotonic() + patience
    while not (answer := reached()):
        if time.monotonic() > end:
            raise RuntimeError(f"the workers took longer than {patience:.0f} s")
        time.sleep(pause)
    return answer
