"""Pages and API of probes with a run of 500,000 answers: each at most 300 ms on the server.

On SQLite and PostgreSQL, in separate databases. The median of five requests after a warm-up counts for each page:
the processor time of the web server's thread and of the database's process together, which does not depend on other
programs. Elapsed time and the number of statements are also reported.
"""

import json
import os
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.generation.probing.large_run import ANSWERS, RARE, STUDY
from benchmarks.table import Row
from benchmarks.web_server import ROOT, Platform, own_database, platform, postgres_address, processor_seconds

LIMIT_MS = 300.0
_TIMES = 5
_PAGES = f"/studies/{STUDY}/probes/"
_ANSWERS = f"{_PAGES}{{run}}/answers/"
# {after} is in the middle of the run.
PAGES = (
    _PAGES,
    f"{_PAGES}new/",
    f"{_PAGES}new/estimate/?probe_set=biasdora-images&backend=script&bias=&associations=",
    f"{_PAGES}{{run}}/",
    _ANSWERS,
    f"{_ANSWERS}?after={{after}}",
    f"{_ANSWERS}?last=1",
    f"{_ANSWERS}?outcome=done",
    f"{_ANSWERS}?outcome=failed",
    f"{_ANSWERS}?outcome=pending",
    f"{_ANSWERS}?question=trades.trade_7",
    f"{_ANSWERS}?scenario=scene_1",
    f"{_ANSWERS}?group=short_orsani",
    f"{_ANSWERS}?order=reversed",
    f"{_ANSWERS}?coded=plus",
    f"{_ANSWERS}?coded=both",
    f"{_ANSWERS}?sure=no",
    f"{_ANSWERS}?sure=no&coded=refused&scenario=scene_2",
    f"{_ANSWERS}?text=lamp",
    f"{_ANSWERS}?text={RARE}",
    f"{_ANSWERS}?text=nowhere",
    f"{_ANSWERS}{{answer}}/",
)


def run() -> Iterator[Row]:
    """Create the run on each database, and open every page in a separate process."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        databases = {"SQLite": f"sqlite:///{folder / 'pages.sqlite3'}"}
        if (address := postgres_address()) is not None:
            name = f"bench_probe_pages_{uuid.uuid4().hex[:8]}"
            databases["PostgreSQL"] = stack.enter_context(own_database(address, name))
        for name, url in databases.items():
            yield from _rows(stack.enter_context(platform(url, name, folder)))


def _rows(installation: Platform) -> Iterator[Row]:
    start = time.perf_counter()
    installation.run("-m", "benchmarks.generation.probing.pages", "make")
    claim = f"a probe of {ANSWERS:,} answers, {installation.database}: made"
    yield Row(claim, f"{time.perf_counter() - start:.0f} s", "", None)
    for line in installation.run("-m", "benchmarks.generation.probing.pages", "pages").splitlines():
        page = json.loads(line)
        measured = (
            f"{page['processor']:.0f} ms, {page['ms']:.0f} on the clock, {page['statements']} statements"
        )
        measured += "" if page["status"] == 200 else f" (status {page['status']})"
        within_limit = page["status"] == 200 and page["processor"] <= LIMIT_MS
        yield Row(f"  {page['path']}", measured, f"≤ {LIMIT_MS:.0f} ms", within_limit)


def _times() -> Iterator[dict[str, Any]]:
    from django.db import connection
    from django.test import Client

    from accounts.models import User

    client = Client(headers={"host": "127.0.0.1"}, raise_request_exception=False)
    client.force_login(User.objects.get(username="bench"))
    connection.ensure_connection()
    server = connection.connection.info.backend_pid if connection.vendor == "postgresql" else None
    for path, address in _addresses():
        statements: list[str] = []
        with connection.execute_wrapper(partial(_counted, statements)):
            status = client.get(address).status_code
        clock, processor = [], []
        for _ in range(_TIMES):
            before, start = _processor_seconds(server), time.perf_counter()
            client.get(address)
            clock.append(1000 * (time.perf_counter() - start))
            processor.append(1000 * (_processor_seconds(server) - before))
        yield {
            "path": path,
            "status": status,
            "ms": statistics.median(clock),
            "processor": statistics.median(processor),
            "statements": len(statements),
        }


def _addresses() -> list[tuple[str, str]]:
    from generation.models import ProbeRun

    run = ProbeRun.objects.order_by("pk").last()
    assert run is not None
    first = run.answers.order_by("pk").values_list("pk", flat=True)[0]
    keys = {"run": run.pk, "answer": first + ANSWERS // 3, "after": first + ANSWERS // 2}
    return [(path, path.format(**keys)) for path in PAGES]


def _counted(statements: list[str], execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
    statements.append(sql)
    return execute(sql, params, many, context)


def _processor_seconds(server: int | None) -> float:
    return time.thread_time() + (0.0 if server is None else processor_seconds(server))


def main(step: str) -> None:
    """Create the run in the database of `DATABASE_URL`, or time its pages and print the measurements."""
    sys.path.insert(0, str(ROOT / "platform"))
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    if step == "make":
        from benchmarks.generation.probing import large_run

        large_run.make()
    else:
        from foundation.call_stack import in_one_chunk

        # As in the web server, whose threads keep their calls in one chunk of memory.
        for measured in in_one_chunk(list)(_times()):
            print(json.dumps(measured))


if __name__ == "__main__":
    main(sys.argv[1])
