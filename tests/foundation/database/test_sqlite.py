"""Our SQLite back-end: writers queue for a lock, and none keeps it."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from django.db import DatabaseError, OperationalError, transaction

from foundation.database.sqlite.base import DatabaseWrapper

pytestmark = pytest.mark.django_db
WRITERS, TIMES = 4, 25


@pytest.fixture
def new_connection(tmp_path):
    """Return a maker of connections to one file, as separate threads or processes have them."""
    opened = []

    def connect(**options) -> DatabaseWrapper:
        settings = {
            "NAME": tmp_path / "turns.sqlite3",
            "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 30, **options},
            "AUTOCOMMIT": True,
            "ATOMIC_REQUESTS": False,
            "CONN_HEALTH_CHECKS": False,
            "CONN_MAX_AGE": 0,
            "TIME_ZONE": None,
            "USER": "",
            "PASSWORD": "",
            "HOST": "",
            "PORT": "",
            "TEST": {},
        }
        connection = DatabaseWrapper(settings, alias=f"turns{len(opened)}")
        connection.inc_thread_sharing()
        opened.append(connection)
        return connection

    yield connect
    for one in opened:
        one.close()


def begin(connection):
    connection.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)


def end(connection, how):
    how()
    connection.set_autocommit(True)


def test_writers_in_many_threads_all_get_their_turn(new_connection):
    first = new_connection()
    first.cursor().execute("CREATE TABLE seen (number integer)")
    refused = []

    def write(number):
        mine = new_connection()
        try:
            for _ in range(TIMES):
                begin(mine)
                mine.cursor().execute("INSERT INTO seen SELECT COUNT(*) FROM seen")
                end(mine, mine.commit)
        except DatabaseError as error:
            refused.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert refused == []
    found = first.cursor().execute("SELECT number FROM seen ORDER BY number").fetchall()
    assert [number for (number,) in found] == list(range(WRITERS * TIMES))


@pytest.mark.parametrize("how", ["commit", "rollback", "close"])
def test_the_turn_ends_with_the_transaction_however_it_ends(new_connection, how):
    one, other = new_connection(), new_connection(timeout=0.2)
    begin(one)
    with pytest.raises(OperationalError, match="locked"):
        begin(other)
    other.close()
    if how == "close":
        one.close()
    else:
        end(one, getattr(one, how))
    begin(other)
    end(other, other.commit)


def test_a_process_that_is_killed_lets_go_of_its_turn(new_connection, tmp_path):
    queue = tmp_path / "turns.sqlite3-queue"
    holds = f"import fcntl, os, signal; fd = os.open({str(queue)!r}, os.O_RDWR | os.O_CREAT); "
    holds += "fcntl.flock(fd, fcntl.LOCK_EX); os.kill(os.getpid(), signal.SIGKILL)"
    assert subprocess.run([sys.executable, "-c", holds], check=False).returncode == -9
    one = new_connection(timeout=1)
    begin(one)
    end(one, one.commit)


def test_only_its_owner_reads_the_file_of_turns(new_connection, tmp_path):
    one = new_connection()
    begin(one)
    end(one, one.commit)
    assert os.stat(Path(tmp_path) / "turns.sqlite3-queue").st_mode & 0o777 == 0o600


def test_atomic_takes_and_ends_turns(new_connection):
    from django.db import connections

    one, other = new_connection(), new_connection(timeout=0.2)
    connections["turns"] = one
    try:
        with pytest.raises(ZeroDivisionError), transaction.atomic(using="turns"):
            raise ZeroDivisionError
    finally:
        del connections["turns"]
    begin(other)
    end(other, other.commit)
