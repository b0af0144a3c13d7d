"""Two workers compared with one on steps that sleep, with each engine: the benefit of a second machine.

Every worker is a separate process, started before the first job is queued. The time runs from the first start of a
job to the last end, as recorded in the jobs' rows.
"""

import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from benchmarks.table import Row
from benchmarks.web_server import Platform, own_database, platform, postgres_address
from benchmarks.workers import wait_for_workers, wait_until, worker
from tests.jobs.brokers import own_redis

_JOBS, _STEPS, _SECONDS = 12, 4, 0.25
_LEAST = 1.8
_PATIENCE = 120.0

_ENQUEUE = """
from jobs.run.execution import enqueue
for number in range({jobs}):
    given = {{"file": "{folder}/{name}-%d" % number, "steps": {steps}, "seconds": {seconds}}}
    enqueue(kind="steps", title="{name}", arguments=given, by=None)
"""
_SPAN = """
from django.db.models import Count, Max, Min, Q
from jobs.models import Job
found = Job.objects.filter(title="{name}").aggregate(
    left=Count("pk", filter=~Q(state="succeeded")), first=Min("started_at"), last=Max("finished_at")
)
print(-1 if found["left"] else (found["last"] - found["first"]).total_seconds())
"""


def run() -> Iterator[Row]:
    address = postgres_address()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        name = "SQLite"
        url = f"sqlite:///{folder}/jobs.sqlite3"
        if address is not None:
            url = stack.enter_context(own_database(address, f"bench_jobs_{uuid.uuid4().hex[:8]}"))
            name = "PostgreSQL"
        installation = stack.enter_context(platform(url, name, folder))
        installation.environment["DJANGO_SETTINGS_MODULE"] = "tests.jobs.worker_settings"
        installation.environment.pop("CELERY_BROKER_URL", None)
        yield _row(installation, "the database", folder)
        if shutil.which("redis-server") is None:
            yield Row(_claim("Celery on Redis", name), "no redis-server", f"≥ {_LEAST}", None)
            return
        redis = stack.enter_context(own_redis(folder))
        installation.environment["CELERY_BROKER_URL"] = redis.url
        yield _row(installation, "Celery on Redis", folder)


def _row(installation: Platform, engine: str, folder: Path) -> Row:
    alone, two = (_seconds(installation, workers, folder) for workers in (1, 2))
    measured = f"{alone:.1f} s, {two:.1f} s: {alone / two:.2f} ×"
    return Row(_claim(engine, installation.database), measured, f"≥ {_LEAST} ×", alone / two >= _LEAST)


def _claim(engine: str, database: str) -> str:
    return f"two workers beside one, steps that sleep; {engine}, {database}"


def _seconds(installation: Platform, number: int, folder: Path) -> float:
    name = uuid.uuid4().hex
    with ExitStack() as stack:
        for _ in range(number):
            stack.enter_context(worker(installation, "--interval", "0.1"))
        wait_for_workers(installation, number, patience=_PATIENCE)
        installation.shell(
            _ENQUEUE.format(jobs=_JOBS, steps=_STEPS, seconds=_SECONDS, folder=folder, name=name)
        )
        time.sleep(_JOBS * _STEPS * _SECONDS / number)
        return wait_until(
            lambda: max(0.0, float(installation.shell(_SPAN.format(name=name)))), patience=_PATIENCE
        )
