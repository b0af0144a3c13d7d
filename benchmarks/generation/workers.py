"""Sharing of a run: the utilisation of an endpoint's pool, and two workers compared with one.

The model is an HTTP server that sleeps, so that waiting times are measured and not this machine's cores.
Times are taken at that server, from the first request to the last answer.
"""

import random
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.table import Row
from benchmarks.web_server import Platform, own_database, platform, postgres_address
from benchmarks.workers import wait_for_workers, wait_until, worker
from tests.generation.backends.images_endpoint import Endpoint, image, images_endpoint, png

_CALLS, _AT_ONCE, _MEAN_SECONDS = 320, 8, 1.0
_POOL_LEAST = 0.9
_IMAGES, _SECONDS = 50, 0.6
_WORKERS_LEAST = 1.8
_PATIENCE = 180.0

_STUDY = """
from generation.prompts.creation import set_prompts
from studies.models import Study, StudyGroup
study = Study.objects.create(name="{name}", slug="{name}", seed=7)
StudyGroup.objects.create(study=study, name="Orsani", display_name="Orsani")
set_prompts(study=study, templates=["{{a_an}} {{id}} person"], images_per_prompt={images}, by=None)
"""


class Latencies:
    """Makes an endpoint answer after given seconds, and records when it was busy."""

    def __init__(self, endpoint: Endpoint, seconds: list[float]) -> None:
        self.asked = list(seconds)
        self._left = list(seconds)
        self._lock = threading.Lock()
        self._first = self._last = 0.0
        endpoint.respond = self._respond

    @property
    def span(self) -> float:
        """Return the seconds from the first request to the last answer."""
        return self._last - self._first

    @property
    def complete(self) -> bool:
        return not self._left

    def _respond(self, _: dict[str, Any]) -> Any:
        with self._lock:
            self._first = self._first or time.monotonic()
            number, seconds = len(self._left), self._left.pop()
        time.sleep(seconds)
        with self._lock:
            self._last = time.monotonic()
        return image(png((number % 256, number // 256, 7)))


def run() -> Iterator[Row]:
    address = postgres_address()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url, name = f"sqlite:///{folder}/workers.sqlite3", "SQLite"
        if address is not None:
            url = stack.enter_context(own_database(address, f"bench_workers_{uuid.uuid4().hex[:8]}"))
            name = "PostgreSQL"
        installation = stack.enter_context(platform(url, name, folder))
        installation.environment.pop("CELERY_BROKER_URL", None)
        endpoint = stack.enter_context(images_endpoint())
        installation.environment.update({"OPENAI_BASE_URLS": endpoint.url, "OPENAI_API_KEY": ""})
        yield _pool(installation, endpoint)
        yield _workers(installation, endpoint)


def _pool(installation: Platform, endpoint: Endpoint) -> Row:
    """Measure the pool. The ideal is the sum of all calls' seconds, divided by the maximum of concurrent calls."""
    draws = random.Random(11)
    latencies = Latencies(endpoint, [draws.expovariate(1 / _MEAN_SECONDS) for _ in range(_CALLS)])
    installation.environment["OPENAI_IMAGES_AT_ONCE"] = str(_AT_ONCE)
    _generate(installation, "pool", _CALLS)
    share = sum(latencies.asked) / _AT_ONCE / latencies.span
    calls = f"{_CALLS} calls of exponential length, {_AT_ONCE} at once"
    claim = f"endpoint pool: share of the ideal, {calls}; {installation.database}"
    return Row(claim, f"{share:.2f} ({latencies.span:.0f} s)", f"≥ {_POOL_LEAST}", share >= _POOL_LEAST)


def _workers(installation: Platform, endpoint: Endpoint) -> Row:
    installation.environment["OPENAI_IMAGES_AT_ONCE"] = "1"
    alone, two = (_span(installation, endpoint, number) for number in (1, 2))
    claim = f"two workers on one run beside one, {_IMAGES} images of {_SECONDS} s; {installation.database}"
    measured = f"{alone:.1f} s, {two:.1f} s: {alone / two:.2f} ×"
    return Row(claim, measured, f"≥ {_WORKERS_LEAST} ×", alone / two >= _WORKERS_LEAST)


def _span(installation: Platform, endpoint: Endpoint, workers: int) -> float:
    latencies = Latencies(endpoint, [_SECONDS] * _IMAGES)
    with ExitStack() as stack:
        for _ in range(workers):
            stack.enter_context(worker(installation, "--interval", "0.1"))
        wait_for_workers(installation, workers, patience=_PATIENCE)
        _generate(installation, f"workers-{workers}", _IMAGES, "--queue", "--workers", str(workers))
        wait_until(lambda: latencies.complete, patience=_PATIENCE)
        time.sleep(2 * _SECONDS)
    return latencies.span


def _generate(installation: Platform, name: str, images: int, *more: str) -> None:
    installation.shell(_STUDY.format(name=name, images=images))
    model = ("--backend", "openai", "--model", "sleeper")
    installation.run("manage.py", "generate", "--study", name, *model, *more)
