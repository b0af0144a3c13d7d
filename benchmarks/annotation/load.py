"""Submissions at the server's maximum rate: gunicorn with two workers, HTTP keep-alive, no thinking time.

A closed loop of 1, 8 and 32 annotators, with one quota rule and 5 % gold tasks, in a campaign of 4,000 tasks and
one of 100,000; campaigns labelled to their end; then Label Studio on the same machine (`label_studio`). On
PostgreSQL if one is available (`DATABASE_URL`, else this machine), and on SQLite. The driver uses the same
processors as the server.
"""

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from benchmarks.annotation import label_studio_load
from benchmarks.annotation.closed_loop import Load, drive
from benchmarks.table import Row
from benchmarks.web_server import Platform, Server, own_database, platform, postgres_address, serving

SECONDS = 20.0
ANNOTATORS = (1, 8, 32)
LIMIT_RATE = 200.0
# One process writes at a time; 113 to 190 per second were measured on two idle cores.
LIMIT_RATE_SQLITE = 100.0
LIMIT_MS = {8: 60.0, 32: 250.0}
TASKS, MANY_TASKS = 4000, 100_000
# A larger campaign may reduce the rate by a quarter.
KEPT_OF_RATE = 0.75
WANTED = 3


@dataclass
class OurLoads:
    """Measurements on PostgreSQL, for comparison with Label Studio."""

    by_annotators: dict[int, Load] = field(default_factory=dict)
    surplus: int = 0


def run() -> Iterable[Row]:
    """Create temporary databases, start the server, label, and remove everything."""
    with tempfile.TemporaryDirectory() as folder:
        address = postgres_address()
        if address is None:
            yield Row("submit and next, PostgreSQL", "no server answers", "≥ 200/s", None)
        else:
            our_loads = OurLoads()
            with (
                own_database(address, f"stereoscope_bench_{uuid4().hex[:8]}") as url,
                platform(url, "PostgreSQL", Path(folder)) as installation,
                serving(installation, Path(folder)) as server,
            ):
                yield from _on_postgresql(installation, server, our_loads)
            yield from label_studio_load.rows(
                address, our_loads.by_annotators, our_loads.surplus, seconds=SECONDS
            )
        sqlite = f"sqlite:///{Path(folder) / 'bench.sqlite3'}"
        with (
            platform(sqlite, "SQLite", Path(folder)) as installation,
            serving(installation, Path(folder)) as server,
        ):
            yield from _closed_loop(installation, server, 8)[1]
            yield _to_empty(installation, server, tasks=500, annotators=8)[1]


def _on_postgresql(installation: Platform, server: Server, our_loads: OurLoads) -> Iterator[Row]:
    for number in ANNOTATORS:
        our_loads.by_annotators[number], rows = _closed_loop(installation, server, number)
        yield from rows
        if number == 8:
            many, rows = _closed_loop(installation, server, number, tasks=MANY_TASKS)
            yield from rows
            share = many.rate / our_loads.by_annotators[8].rate
            claim = f"its rate, as a share of that with {TASKS:,} tasks"
            yield Row(claim, f"{share:.2f}", f"≥ {KEPT_OF_RATE}", share >= KEPT_OF_RATE)
    yield _to_empty(installation, server, tasks=500, annotators=8)[1]
    our_loads.surplus, row = _to_empty(
        installation, server, tasks=label_studio_load.TASKS_TO_EMPTY, annotators=32
    )
    yield row


def _closed_loop(
    installation: Platform, server: Server, number: int, *, tasks: int = TASKS
) -> tuple[Load, list[Row]]:
    campaign = installation.campaign(tasks=tasks, annotators=number)
    drive(server.port, campaign, seconds=1)  # warm-up
    web, database = server.web_seconds(), server.database_seconds()
    load = drive(server.port, campaign, seconds=SECONDS)
    web, database = server.web_seconds() - web, server.database_seconds() - database
    each = 1000 / max(1, len(load.latencies))
    split = f"{web * each:.1f} + {database * each:.1f} + {load.driver_seconds * each:.1f} ms"
    size = "" if tasks == TASKS else f", {tasks:,} tasks"
    title = f"{number} annotator{'s' * (number > 1)}{size}, {installation.database}"
    limited = number in LIMIT_MS
    on_sqlite = installation.database == "SQLite"
    limit_rate = LIMIT_RATE_SQLITE if on_sqlite else LIMIT_RATE
    rows = [
        Row(
            f"submit and next, {title}",
            f"{load.rate:.0f}/s",
            f"≥ {limit_rate:.0f}/s" if limited else "",
            not load.errors and (load.rate >= limit_rate or not limited),
        ),
        Row(
            f"submit and next p95, {title}",
            f"{load.p95_ms:.0f} ms",
            f"≤ {LIMIT_MS[number]:.0f} ms" if limited and not on_sqlite else "",
            not load.errors and (not limited or on_sqlite or load.p95_ms <= LIMIT_MS[number]),
        ),
        Row("  processor time of one: web + database + driver", split, "", not load.errors),
    ]
    if load.errors:
        rows.append(Row(f"  {len(load.errors)} errors, the first", load.errors[0][:200], "none", False))
    return load, rows


def _to_empty(installation: Platform, server: Server, *, tasks: int, annotators: int) -> tuple[int, Row]:
    """Label a campaign to its end; return the number of excess annotations, and the row."""
    campaign = installation.campaign(tasks=tasks, annotators=annotators)
    load = drive(server.port, campaign, seconds=300)
    counts = installation.count(campaign["campaign"])
    whole = {"accepted": tasks * WANTED, "surplus": 0, "short": 0, "over": 0}
    problems = f"{len(load.errors)} errors, {counts['surplus']} surplus, {counts['short']} short"
    row = Row(
        f"{tasks} tasks × {WANTED} labelled to the end by {annotators}, {installation.database}",
        problems,
        "none",
        not load.errors and counts | whole == counts,
    )
    return counts["surplus"] + max(0, counts["accepted"] - tasks * WANTED), row
