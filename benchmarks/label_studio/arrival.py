"""From submitting an answer in a Label Studio to the label that it becomes here: by its webhook, with one worker.

A real Label Studio, our web server and a worker run for this. Answers come one after the other, each once the one
before has arrived. The first, for which a worker that was just started loads what it needs, is a row of its own.
"""

import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from django.db.models import QuerySet

from benchmarks.label_studio.pull import ask
from benchmarks.table import Row
from benchmarks.web_server import ROOT, Platform, own_database, platform, postgres_address, serving
from tests.services.label_studio.server import LabelStudio, label_studio_server

ANSWERS = 20
LIMIT_SECONDS = 5.0
_PATIENCE = 60.0


def run() -> Iterable[Row]:
    """Measure on SQLite and, where it answers, on PostgreSQL as our own database."""
    claim = f"answer in Label Studio to label here, slowest of {ANSWERS}"
    try:
        with label_studio_server() as there, tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            with platform(f"sqlite:///{folder / 'ours.sqlite3'}", "SQLite", folder) as made:
                yield from _rows(claim, made, there, folder)
            if address := postgres_address():
                with (
                    own_database(address, f"bench_{uuid.uuid4().hex[:8]}") as url,
                    platform(url, "PostgreSQL", folder) as made,
                ):
                    yield from _rows(claim, made, there, folder)
    except pytest.skip.Exception as reason:
        yield Row(f"{claim}: not measured: {reason}"[:300], "", f"≤ {LIMIT_SECONDS:.0f} s", None)


def _rows(claim: str, ours: Platform, there: LabelStudio, folder: Path) -> Iterator[Row]:
    ours.environment.update(LABEL_STUDIO_ALLOWED_HOSTS="127.0.0.1")
    campaign = ours.campaign(tasks=1 + ANSWERS, annotators=1)["campaign"]
    person = there.annotators[0]
    with serving(ours, folder) as server:
        ours.environment.update(SITE_URL=f"http://127.0.0.1:{server.port}")
        sent = ask(ours, "send", f"{campaign}, {there.url!r}, {there.owner.token!r}, {[person.id]}")
        with _worker(ours):
            said = f"{campaign}, {there.url!r}, {person.token!r}, {sent['projects'][0]['tasks']}, {sent['result']!r}"
            first, *took = ask(ours, "answer", said, module="arrival")["seconds"]
    yield Row(
        f"{claim}, {ours.database}",
        f"{max(took):.1f} s",
        f"≤ {LIMIT_SECONDS:.0f} s",
        len(took) == ANSWERS and max(took) <= LIMIT_SECONDS,
    )
    yield Row(f"  the first that a worker takes in, {ours.database}", f"{first:.1f} s", "", None)


@contextmanager
def _worker(made: Platform) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "manage.py", "worker", "-v", "0"],
        cwd=ROOT,
        env=made.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=60)


def answer(campaign_id: int, url: str, token: str, tasks: list[int], result: list) -> dict:
    """Answer tasks there and wait for the label of each; run in the platform, in a process of its own."""
    import httpx

    from annotation.models import Annotation
    from jobs.engine.workers import alive

    _until(lambda: bool(alive().count()))
    labels = Annotation.objects.filter(campaign=campaign_id, status="accepted", is_latest=True)
    seconds = []
    with httpx.Client(
        base_url=url, headers={"Authorization": f"Token {token}"}, timeout=60, trust_env=False
    ) as http:
        for done, task in enumerate(tasks):
            started = time.perf_counter()
            body = {"result": result, "lead_time": 9.5}
            http.post(f"/api/tasks/{task}/annotations/", json=body).raise_for_status()
            _until(partial(_arrived, labels, done + 1))
            seconds.append(time.perf_counter() - started)
    return {"seconds": seconds}


def _arrived(labels: QuerySet, number: int) -> bool:
    return labels.count() == number


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + _PATIENCE
    while not true():
        if time.monotonic() > end:
            raise RuntimeError("no answer arrived, or no worker was there, in a minute")
        time.sleep(0.02)
