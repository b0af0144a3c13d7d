"""The time from an answer in Label Studio to its label in Stereoscope, by webhook and with one worker.

A real Label Studio, our web server and a worker run for this. Answers are submitted one by one, each after the
previous label. The first, for which a newly started worker loads its modules, has its own row.
"""

import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.db.models import QuerySet

from benchmarks.label_studio.pull import ask
from benchmarks.table import Row
from benchmarks.web_server import Platform, own_database, platform, postgres_address, serving
from benchmarks.workers import wait_until, worker
from tests.services.label_studio.server import LabelStudio, label_studio_server

if TYPE_CHECKING:
    from annotation.models import Annotation

ANSWERS = 20
LIMIT_SECONDS = 5.0
_PATIENCE, _PAUSE = 60.0, 0.02  # seconds


def run() -> Iterable[Row]:
    """Measure on SQLite and, if available, on PostgreSQL as our own database."""
    claim = f"answer in Label Studio to label here, slowest of {ANSWERS}"
    try:
        with label_studio_server() as label_studio, tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            with platform(f"sqlite:///{folder / 'ours.sqlite3'}", "SQLite", folder) as installation:
                yield from _rows(claim, installation, label_studio, folder)
            if address := postgres_address():
                with (
                    own_database(address, f"bench_{uuid.uuid4().hex[:8]}") as url,
                    platform(url, "PostgreSQL", folder) as installation,
                ):
                    yield from _rows(claim, installation, label_studio, folder)
    except pytest.skip.Exception as reason:
        yield Row(f"{claim}: not measured: {reason}"[:300], "", f"≤ {LIMIT_SECONDS:.0f} s", None)


def _rows(claim: str, installation: Platform, label_studio: LabelStudio, folder: Path) -> Iterator[Row]:
    installation.environment.update(LABEL_STUDIO_ALLOWED_HOSTS="127.0.0.1")
    campaign = installation.campaign(tasks=1 + ANSWERS, annotators=1)["campaign"]
    person = label_studio.annotators[0]
    with serving(installation, folder) as server:
        installation.environment.update(SITE_URL=f"http://127.0.0.1:{server.port}")
        sent = ask(
            installation,
            "send",
            f"{campaign}, {label_studio.url!r}, {label_studio.owner.token!r}, {[person.id]}",
        )
        with worker(installation):
            tasks = sent["projects"][0]["tasks"]
            arguments = f"{campaign}, {label_studio.url!r}, {person.token!r}, {tasks}, {sent['result']!r}"
            first_seconds, *took = ask(installation, "answer", arguments, module="arrival")["seconds"]
    yield Row(
        f"{claim}, {installation.database}",
        f"{max(took):.1f} s",
        f"≤ {LIMIT_SECONDS:.0f} s",
        len(took) == ANSWERS and max(took) <= LIMIT_SECONDS,
    )
    yield Row(
        f"  the first that a worker takes in, {installation.database}", f"{first_seconds:.1f} s", "", None
    )


def answer(
    campaign_id: int, url: str, token: str, tasks: list[int], result: list[dict[str, Any]]
) -> dict[str, list[float]]:
    """Answer tasks in Label Studio and wait for the label of each; runs inside the platform, in a separate process."""
    import httpx

    from annotation.models import Annotation
    from jobs.engine.workers import alive

    wait_until(lambda: alive().count(), patience=_PATIENCE, pause=_PAUSE)
    labels = Annotation.objects.filter(campaign=campaign_id, status="accepted", is_latest=True)
    seconds = []
    with httpx.Client(
        base_url=url, headers={"Authorization": f"Token {token}"}, timeout=60, trust_env=False
    ) as http:
        for arrived, task in enumerate(tasks):
            started = time.perf_counter()
            body = {"result": result, "lead_time": 9.5}
            http.post(f"/api/tasks/{task}/annotations/", json=body).raise_for_status()
            wait_until(partial(_arrived, labels, arrived + 1), patience=_PATIENCE, pause=_PAUSE)
            seconds.append(time.perf_counter() - started)
    return {"seconds": seconds}


def _arrived(labels: "QuerySet[Annotation]", number: int) -> bool:
    return labels.count() == number
