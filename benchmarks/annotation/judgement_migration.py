"""The migration of ten million judgements to declared questions and back, while annotators continue to answer.

On PostgreSQL, in a separate database that is dropped at the end: some minutes and 6 GiB of disk, so it is
measured only when named. One connection stores answers as the version before the migration does, another reads
labels; the longest time that either waited counts.
"""

import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import psycopg

from benchmarks.table import Row
from benchmarks.web_server import Platform, own_database, platform, postgres_address

JUDGEMENTS = 10_000_000
BEFORE, AFTER = "0005", "0012"
MOST_SECONDS, MOST_WAITED = 60.0, 1.0
_EACH = 5  # judgements per annotation
_ANNOTATIONS = """
    INSERT INTO annotation_annotation (submission_id, campaign_id, task_id, annotator_id, revision, is_latest, status,
        status_reason, none_of_the_above, justification)
    SELECT gen_random_uuid(), %(campaign)s, t.id, (SELECT MIN(id) FROM accounts_annotator), 1, TRUE, 'accepted', '',
        FALSE, ''
    FROM (SELECT id FROM annotation_task WHERE campaign_id = %(campaign)s ORDER BY id LIMIT 1) t,
         generate_series(1, %(annotations)s) i
"""
_JUDGEMENTS = """
    INSERT INTO annotation_judgement (annotation_id, attribute_id, present)
    SELECT a.id, b.id, (a.id + b.id) %% 3 = 0
    FROM annotation_annotation a, (SELECT id FROM catalog_attribute ORDER BY id LIMIT %(each)s) b
"""
_ONE_ANSWER = """
    WITH a AS (
        INSERT INTO annotation_annotation (submission_id, campaign_id, task_id, annotator_id, revision, is_latest,
            status, status_reason, none_of_the_above, justification)
        SELECT gen_random_uuid(), campaign_id, task_id, annotator_id, 1, TRUE, 'accepted', '', FALSE, ''
        FROM annotation_annotation ORDER BY id LIMIT 1 RETURNING id)
    INSERT INTO annotation_judgement (annotation_id, attribute_id, present)
    SELECT a.id, b.id, TRUE FROM a, (SELECT id FROM catalog_attribute ORDER BY id LIMIT 5) b
"""
_SOME_LABELS = """
    SELECT COUNT(*) FROM annotation_judgement j
    JOIN (SELECT id FROM annotation_annotation ORDER BY id DESC LIMIT 200) a ON a.id = j.annotation_id
    WHERE j.present
"""


@dataclass
class _Client:
    """Repeats a statement on its own connection, and records the longest time that it took."""

    address: str
    statement: str
    longest: float = 0.0
    count: int = 0
    error: str = ""
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        with psycopg.connect(self.address, autocommit=True) as connection:
            while not self.stopped.wait(0.005):
                started = time.perf_counter()
                try:
                    connection.execute(self.statement)
                except psycopg.Error as error:
                    self.error = str(error)
                    return
                self.longest = max(self.longest, time.perf_counter() - started)
                self.count += 1


def run(judgements: int = JUDGEMENTS) -> Iterable[Row]:
    """Yield the times of the migration forward and back, and the longest waits during both."""
    title = f"{judgements / 1_000_000:g} million judgements to declared questions, PostgreSQL"
    address = postgres_address()
    if address is None:
        yield Row(title, "", f"≤ {MOST_SECONDS:.0f} s", None)
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        own_database(address, f"bench_{uuid4().hex[:12]}") as url,
        platform(url, "PostgreSQL", Path(folder)) as installation,
    ):
        _fill(installation, url, judgements)
        with _clients(url) as clients:
            seconds = _seconds(
                lambda: installation.run("manage.py", "migrate", "annotation", AFTER, "-v", "0")
            )
        yield Row(title, f"{seconds:.1f} s", f"≤ {MOST_SECONDS:.0f} s", seconds <= MOST_SECONDS)
        yield from _waits(clients)
        seconds = _seconds(lambda: installation.run("manage.py", "migrate", "annotation", BEFORE, "-v", "0"))
        yield Row("  and back", f"{seconds:.1f} s", "", True)


def _fill(installation: Platform, url: str, judgements: int) -> None:
    """Create judgements as the version before the migration stored them."""
    campaign = installation.campaign(tasks=10, annotators=1)["campaign"]
    installation.run("manage.py", "migrate", "annotation", BEFORE, "-v", "0")
    with psycopg.connect(url, autocommit=True) as connection:
        # Foreign keys are correct by construction; checking each would take most of the time.
        connection.execute("SET session_replication_role = replica")
        connection.execute(_ANNOTATIONS, {"campaign": campaign, "annotations": judgements // _EACH})
        connection.execute(_JUDGEMENTS, {"each": _EACH})
        connection.execute("VACUUM ANALYZE annotation_judgement, annotation_annotation")


@contextmanager
def _clients(url: str) -> Iterator[list[_Client]]:
    clients = [_Client(url, _ONE_ANSWER), _Client(url, _SOME_LABELS)]
    threads = [threading.Thread(target=client.run) for client in clients]
    for thread in threads:
        thread.start()
    try:
        yield clients
    finally:
        for client in clients:
            client.stopped.set()
        for thread in threads:
            thread.join()


def _waits(clients: list[_Client]) -> Iterator[Row]:
    for name, client in zip(("stores an answer", "reads labels"), clients, strict=True):
        if client.error:
            raise RuntimeError(client.error)
        claim = f"  meanwhile, longest of {client.count:,} times somebody {name}"
        kept = client.longest <= MOST_WAITED
        yield Row(claim, f"{1000 * client.longest:.0f} ms", f"≤ {1000 * MOST_WAITED:.0f} ms", kept)


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
