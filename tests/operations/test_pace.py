"""A backup pauses between pieces of its work, and its content does not depend on the pauses."""

import os
import subprocess
import sys
import time

import psutil
import pytest
from django.db import connection

from operations.backups.databases import postgresql
from operations.backups.databases.connection import current_database
from operations.backups.pace import BESIDE_PEOPLE, FULL_SPEED, BackupPace


@pytest.fixture
def rests(monkeypatch):
    """Return the list of the seconds of each pause."""
    seconds: list[float] = []
    monkeypatch.setattr(time, "sleep", seconds.append)
    return seconds


def test_a_rest_is_as_long_as_its_share_asks(rests):
    FULL_SPEED.rest(3.0)
    BESIDE_PEOPLE.rest(3.0)
    BackupPace(0.25).rest(1.0)
    assert rests == [3.0, 3.0]


def children() -> list[str]:
    """Return the state of each child of this process and its children."""
    own = psutil.Process()
    return [process.status() for process in own.children(recursive=True)]


def test_a_program_is_stopped_again_and_again_until_it_ends():
    states = set()

    class Watched(BackupPace):
        def rest(self, worked: float) -> None:
            time.sleep(0.05)
            states.update(children())

    work = "import sys\nfor n in range(60_000_000): pass\nsys.exit(3)"
    assert Watched(0.5).run([sys.executable, "-c", work]) == 3
    assert psutil.STATUS_STOPPED in states


def test_a_program_ends_with_the_backup_that_is_killed_while_it_rests():
    source = (
        "from operations.backups.pace import BackupPace\n"
        "class Slow(BackupPace):\n"
        "    def rest(self, worked):\n"
        "        print('resting', flush=True)\n"
        "        import time; time.sleep(60)\n"
        "Slow(0.5).run(['sleep', '60'])\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", source], env={**os.environ, "PYTHONPATH": "platform:."}, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"resting\n"
        (program,) = psutil.Process(process.pid).children()
        process.kill()
    program.wait(10)


@pytest.mark.django_db(transaction=True)
def test_a_table_that_is_read_by_pages_has_the_same_digest(monkeypatch, rests, study):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite is read by the backup’s own process, which nice holds back")
    database = current_database()
    with database.view() as view:
        whole = dict(view.tables())
    assert whole["studies_study"].rows == 1
    assert rests == []
    monkeypatch.setattr(postgresql, "_PAGES_AT_ONCE", 1)
    with database.view(BESIDE_PEOPLE) as view:
        assert dict(view.tables()) == whole
    assert len(rests) > len(whole)  # some table has more than one page
