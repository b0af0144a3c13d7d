"""Backup while 32 annotators label without thinking time, and restore of a million judgements and 20,000 images.

On PostgreSQL, in separate databases that are dropped at the end: some minutes and 5 GiB of disk, so it is
measured only when named. Rounds without and with a backup alternate, because the machine's other load changes.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg

from benchmarks.annotation.closed_loop import Load, drive
from benchmarks.table import Row
from benchmarks.web_server import ROOT, Platform, own_database, platform, postgres_address, serving

ANSWERS, IMAGES, IMAGE_BYTES = 200_000, 20_000, 50_000
ANNOTATORS, TASKS = 32, 16_000
ROUNDS, SECONDS = 3, 12.0
MOST_SLOWED, MOST_MINUTES = 0.20, 15.0
# A fifth of the campaign of `large_campaign`, with five judgements per answer.
_FILL = f"""
from benchmarks.annotation import large_campaign as large
large.IMAGES, large.SCREENS, large.ANSWERS = {IMAGES}, {ANSWERS}, {ANSWERS}
large._COMPLETE, large._TWO, large._ONE = {ANSWERS // 4}, {ANSWERS // 10}, {ANSWERS // 20}
large.make()
large.settle()
"""
_DIGEST = """
from analysis.results.data.digest import inputs_digest
from analysis.results.data.labels import load
from analysis.results.parameters import parameters_of
from studies.models import Study
study = Study.objects.get(slug="large")
print(inputs_digest(load(study=study, parameters=parameters_of(study))))
"""


@dataclass
class LabellingRounds:
    """Submissions per second without and with a backup, and the moments of acknowledgement."""

    without: list[float] = field(default_factory=list)
    beside: list[float] = field(default_factory=list)
    acknowledged: list[tuple[float, str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def add(self, rates: list[float], load: Load) -> None:
        rates.append(load.rate)
        self.acknowledged += load.acknowledged
        self.errors += load.errors


def run() -> Iterable[Row]:
    """Yield the slowdown by a backup, the number of lost answers, and the time of a restore."""
    address = postgres_address()
    if address is None:
        yield Row("backup under 32 annotators, PostgreSQL", "no server answers", "", None)
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        own_database(address, f"stereoscope_bench_{uuid4().hex[:8]}") as url,
        own_database(address, f"stereoscope_bench_{uuid4().hex[:8]}") as empty_url,
    ):
        source, place = Path(folder) / "source", Path(folder) / "place"
        for path in (source, place):
            path.mkdir()
        with platform(url, "PostgreSQL", source) as installation:
            yield from _measure(installation, source, place, empty_url)


def _measure(installation: Platform, source: Path, place: Path, empty_url: str) -> Iterator[Row]:
    backups = source.parent / "backups"
    installation.shell(_FILL)
    _write_images(source / "media")
    campaign = installation.campaign(tasks=TASKS, annotators=ANNOTATORS)
    rounds = LabellingRounds()
    with serving(installation, source) as server:
        drive(server.port, campaign, seconds=2)
        for number in range(ROUNDS):
            rounds.add(rounds.without, drive(server.port, campaign, seconds=SECONDS))
            yield _backed_up_beside(installation, server.port, campaign, rounds, backups / str(number))
        rounds.add(rounds.without, drive(server.port, campaign, seconds=SECONDS))
    yield from _slowed(rounds)
    restored = Platform(
        "PostgreSQL", installation.environment | {"DATABASE_URL": empty_url, "STEREOSCOPE_VAR": str(place)}
    )
    started = time.perf_counter()
    restored.run("manage.py", "restore", str(backups / str(ROUNDS - 1)))
    minutes = (time.perf_counter() - started) / 60
    judgements = 5 * ANSWERS
    yield Row(
        f"restore of {judgements:,} judgements and {IMAGES:,} images",
        f"{minutes:.1f} min",
        f"≤ {MOST_MINUTES:.0f} min",
        minutes <= MOST_MINUTES,
    )
    same = installation.shell(_DIGEST) == restored.shell(_DIGEST)
    yield Row("  digest of the report's inputs", "identical" if same else "differs", "identical", same)
    yield _lost(rounds, backups / str(ROUNDS - 1), empty_url)


def _write_images(media: Path) -> None:
    """Write one file per row of images: names as in `large_campaign`, arbitrary bytes."""
    media.mkdir()
    for number in range(1, IMAGES + 1):
        (media / f"{number:x}.png").write_bytes(os.urandom(IMAGE_BYTES))


def _backed_up_beside(
    installation: Platform, port: int, campaign: dict[str, Any], rounds: LabellingRounds, folder: Path
) -> Row:
    """Label during a backup into an empty folder, which copies everything."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "backup", str(folder)],
        cwd=ROOT,
        env=installation.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None:
        rounds.add(rounds.beside, drive(port, campaign, seconds=SECONDS / 3))
    seconds = time.perf_counter() - started
    return Row("  a backup of everything beside them", f"{seconds:.0f} s", "", process.returncode == 0)


def _slowed(rounds: LabellingRounds) -> Iterator[Row]:
    slowed = 1 - statistics.median(rounds.beside) / statistics.median(rounds.without)
    rates = f"{statistics.median(rounds.without):.0f} and {statistics.median(rounds.beside):.0f}/s"
    yield Row(
        f"answers a second of {ANNOTATORS} without and beside a backup (medians)",
        rates,
        "",
        not rounds.errors,
    )
    yield Row(
        "  slowed by", f"{slowed:.0%}", f"≤ {MOST_SLOWED:.0%}", slowed <= MOST_SLOWED and not rounds.errors
    )
    yield Row("  load of the machine, mean of a minute", f"{os.getloadavg()[0]:.1f}", "", True)


def _lost(rounds: LabellingRounds, folder: Path, url: str) -> Row:
    """Search the restored database for every answer that was acknowledged before the backup's moment."""
    (backup_name,) = (folder / "backups").iterdir()
    moment = datetime.strptime(backup_name.name, "%Y-%m-%dT%H%M%S.%fZ").replace(tzinfo=UTC).timestamp()
    before = {submission for at, submission in rounds.acknowledged if at < moment}
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT submission_id::text FROM annotation_annotation").fetchall()
    lost = before - {submission for (submission,) in rows}
    return Row(
        f"  of {len(before):,} answers acknowledged before its moment, lost", str(len(lost)), "0", not lost
    )
