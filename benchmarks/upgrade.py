"""The previous version serves 32 annotators without thinking time while this version migrates the database.

The previous version is the last commit before the work on operations. It begins with its own tables, creates a
campaign and serves it; then `manage.py migrate` of this checkout runs meanwhile, the previous version continues with
the new tables, and finally this version serves the rest. On PostgreSQL, in a separate database that is dropped at the
end: about two minutes, so it is measured only when named.
"""

import io
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import psycopg

from benchmarks.annotation.closed_loop import Load, drive
from benchmarks.table import Row
from benchmarks.web_server import ROOT, Platform, own_database, platform, postgres_address, serving

BEFORE = "0ac8066"
ANNOTATORS, TASKS, SECONDS = 32, 16_000, 5.0


def run() -> Iterable[Row]:
    """Yield the time of the migration, and the annotators' errors and response times during and after it."""
    address = postgres_address()
    files = _files_of(BEFORE)
    if address is None or files is None:
        why = "no server answers" if address is None else f"this clone has no commit {BEFORE}"
        yield Row("migration under 32 annotators, PostgreSQL", why, "", None)
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        own_database(address, f"stereoscope_bench_{uuid4().hex[:8]}") as url,
    ):
        root = Path(folder) / "before"
        with tarfile.open(fileobj=io.BytesIO(files)) as archive:
            archive.extractall(root, filter="data")
        with platform(url, "PostgreSQL", Path(folder), root=root) as before:
            yield from _measure(before, Path(folder), url)


def _files_of(commit: str) -> bytes | None:
    """Return the files of a commit as a tar archive, or None if this clone does not have it."""
    process = subprocess.run(
        ["git", "archive", "--format=tar", commit], cwd=ROOT, capture_output=True, check=False
    )
    return process.stdout if process.returncode == 0 else None


def _measure(before: Platform, folder: Path, url: str) -> Iterator[Row]:
    now = replace(before, root=ROOT, environment=before.environment | {"PYTHONPATH": str(ROOT)})
    campaign = before.campaign(tasks=TASKS, annotators=ANNOTATORS)
    loads = {}
    with serving(before, folder) as server:
        drive(server.port, campaign, seconds=2)
        migration = subprocess.Popen(
            [sys.executable, "manage.py", "migrate", "-v", "0"], cwd=ROOT, env=now.environment
        )
        beside = Load()
        while migration.poll() is None:
            _add(beside, drive(server.port, campaign, seconds=1))
        loads["while this version migrates"] = beside
        yield Row(
            "migrations of this version",
            "done" if migration.returncode == 0 else "failed",
            "done",
            migration.returncode == 0,
        )
        loads["of the version before, after the migration"] = drive(server.port, campaign, seconds=SECONDS)
        # The previous version must also be able to create people and campaigns.
        other = before.campaign(tasks=100, annotators=2)
        loads["in a campaign that the version before made"] = drive(server.port, other, seconds=SECONDS)
    with serving(now, folder) as server:
        loads["of this version"] = drive(server.port, campaign, seconds=SECONDS)
    for words, load in loads.items():
        yield Row(f"answers {words}", f"{len(load.acknowledged):,}", "", bool(load.acknowledged))
        errors = f"{len(load.errors)}{': ' + load.errors[0][:120] if load.errors else ''}"
        yield Row("  errors", errors, "0", not load.errors)
    yield _lost(loads.values(), url)


def _add(total: Load, load: Load) -> None:
    total.acknowledged += load.acknowledged
    total.errors += load.errors


def _lost(loads: Iterable[Load], url: str) -> Row:
    """Search the database for every acknowledged answer."""
    acknowledged = {submission for load in loads for _, submission in load.acknowledged}
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT submission_id::text FROM annotation_annotation").fetchall()
    lost = acknowledged - {submission for (submission,) in rows}
    return Row(f"of {len(acknowledged):,} acknowledged answers, lost", str(len(lost)), "0", not lost)
