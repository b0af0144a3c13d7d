"""Two workers beside one on steps that sleep, with each engine: what does a second machine bring?

Every worker is a process of its own, started before the first job is asked for. Timed is from the first start of a
job to the last end, as the jobs' rows say.
"""

import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.table import Row
from benchmarks.web_server import ROOT, Platform, own_database, platform, postgres_address
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
_WORKERS = "from jobs.engine.workers import alive; print(alive().count())"
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
        made = stack.enter_context(platform(url, name, folder))
        made.environment["DJANGO_SETTINGS_MODULE"] = "tests.jobs.worker_settings"
        made.environment.pop("CELERY_BROKER_URL", None)
        yield _row(made, "the database", folder)
        if shutil.which("redis-server") is None:
            yield Row(_claim("Celery on Redis", name), "no redis-server", f"≥ {_LEAST}", None)
            return
        redis = stack.enter_context(own_redis(folder))
        made.environment["CELERY_BROKER_URL"] = redis.url
        yield _row(made, "Celery on Redis", folder)


def _row(made: Platform, engine: str, folder: Path) -> Row:
    one, two = (_seconds(made, workers, folder) for workers in (1, 2))
    measured = f"{one:.1f} s, {two:.1f} s: {one / two:.2f} ×"
    return Row(_claim(engine, made.database), measured, f"≥ {_LEAST} ×", one / two >= _LEAST)


def _claim(engine: str, database: str) -> str:
    return f"two workers beside one, steps that sleep; {engine}, {database}"


def _seconds(made: Platform, number: int, folder: Path) -> float:
    name = uuid.uuid4().hex
    with ExitStack() as stack:
        for _ in range(number):
            stack.enter_context(_worker(made))
        _wait(lambda: int(_shell(made, _WORKERS)) >= number)
        _shell(made, _ENQUEUE.format(jobs=_JOBS, steps=_STEPS, seconds=_SECONDS, folder=folder, name=name))
        time.sleep(_JOBS * _STEPS * _SECONDS / number)
        return _wait(lambda: max(0.0, float(_shell(made, _SPAN.format(name=name)))))


def _wait(asked: Callable[[], float]) -> float:
    end = time.monotonic() + _PATIENCE
    while not (answer := asked()):
        if time.monotonic() > end:
            raise RuntimeError("the workers took too long")
        time.sleep(0.2)
    return answer


def _shell(made: Platform, code: str) -> str:
    return made.run("manage.py", "shell", "-v", "0", "-c", code).strip().rpartition("\n")[2]


@contextmanager
def _worker(made: Platform) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "manage.py", "worker", "--interval", "0.1", "-v", "0"],
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
