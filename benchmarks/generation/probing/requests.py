"""The overhead of the platform per probe request, and the utilisation of an endpoint.

A local server answers after a fixed time. Processor time is that of the asking process with all its threads; the
server and PostgreSQL are other processes.
"""

import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from benchmarks.generation.probing.chat_server import ChatServer, chat_server
from benchmarks.generation.probing.words_study import ANSWERS_IN_A_RUN, PROBE_SET, STUDY
from benchmarks.table import Row
from benchmarks.web_server import ROOT, Platform, own_database, platform, postgres_address

REQUESTS, AT_ONCE, SECONDS = 5_000, 32, 0.4
MILLISECONDS = 3.0
_BEFORE = 50
FULL = 0.95


def run() -> Iterator[Row]:
    """Ask 5,000 questions on each database."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        databases = {"SQLite": f"sqlite:///{folder / 'requests.sqlite3'}"}
        if (address := postgres_address()) is not None:
            name = f"bench_probe_{uuid.uuid4().hex[:8]}"
            databases["PostgreSQL"] = stack.enter_context(own_database(address, name))
        for name, url in databases.items():
            yield from _rows(stack.enter_context(platform(url, name, folder)), folder)


def _rows(installation: Platform, folder: Path) -> Iterator[Row]:
    (folder / "words.toml").write_text(PROBE_SET)
    installation.shell(STUDY)
    with chat_server(SECONDS) as server:
        installation.environment.update(
            {"OPENAI_BASE_URLS": server.url, "OPENAI_API_KEY": "", "OPENAI_CHATS_AT_ONCE": str(AT_ONCE)}
        )
        process = subprocess.run(
            [sys.executable, "-m", __name__, str(folder / "words.toml")],
            cwd=ROOT,
            env=installation.environment | {"PYTHONPATH": f"{ROOT / 'platform'}:{ROOT}"},
            capture_output=True,
            text=True,
            check=False,
        )
        if process.returncode:
            raise RuntimeError(process.stderr)
        counts = server.counts()
    assert len(counts.requests) == REQUESTS - _BEFORE
    milliseconds = float(process.stdout.split()[-1]) / (REQUESTS - _BEFORE) * 1000
    fullness = (REQUESTS - _BEFORE) * SECONDS / AT_ONCE / counts.span
    claim = f"probe, {REQUESTS:,} requests, {installation.database}"
    yield Row(
        f"{claim}: processor time a request",
        f"{milliseconds:.2f} ms",
        f"≤ {MILLISECONDS:.0f} ms",
        milliseconds <= MILLISECONDS,
    )
    yield Row(
        f"{claim}: {AT_ONCE} at once of {SECONDS} s, share of the ideal",
        f"{fullness:.2f} ({counts.span:.0f} s)",
        f"≥ {FULL}",
        fullness >= FULL,
    )


def _ask(file: str) -> float:
    """Ask the planned questions as the command does; return the seconds of processor time."""
    from decimal import Decimal

    import django
    from django.conf import settings

    django.setup()
    from generation.probing.launch import start_here
    from generation.probing.planning import ProbePlan, plan_run
    from generation.probing.probe_sets import probe_set
    from jobs.progress.reporter import Unwatched
    from studies.models import Study

    plan = ProbePlan(
        study=Study.objects.get(),
        probe_set=probe_set(file),
        probe_set_name="words",
        backend="chat",
        model_id="talker",
        runs=REQUESTS // ANSWERS_IN_A_RUN,
        price_in=Decimal(1),
        price_out=Decimal(1),
        budget=Decimal(100),
    )
    planned = plan_run(plan=plan, by=None)
    # Loading takes a second once, independent of the number of questions.
    start_here(run=planned, by=None, progress=Unwatched(), limit=_BEFORE)
    ChatServer(settings.OPENAI_BASE_URLS[0]).restart()
    began = time.process_time()
    start_here(run=planned, by=None, progress=Unwatched())
    return time.process_time() - began


if __name__ == "__main__":
    import os

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    print(_ask(sys.argv[1]))
