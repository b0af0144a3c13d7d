"""`migrate` while a long statement reads a table: it retries, blocks nobody, and gives up with a message."""

import time

import psycopg
import pytest
from django.db import connection

from tests.foundation.database.own_database import own_server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="about PostgreSQL"),
    pytest.mark.usefixtures("django_db_setup"),
]
BEFORE, AFTER = ("annotation", "0017"), ("annotation", "0018")
# The migration changes campaigns first and answers last.
READ = "SELECT COUNT(*) FROM annotation_annotation"
ASK = "SELECT COUNT(*) FROM annotation_campaign"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with own_server(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture
def reader(server):
    """A connection that reads answers, such as a backup's, and keeps its lock on them."""
    server.run("migrate", *BEFORE)
    with psycopg.connect(server.env["DATABASE_URL"]) as reader:
        reader.execute(READ)
        yield reader


def is_applied(server) -> bool:
    return bool(
        server.rows(
            "SELECT 1 FROM django_migrations WHERE app = 'annotation' AND name = '0018_campaign_languages'"
        )
    )


def test_it_tries_again_until_the_table_is_free_and_locks_nothing_meanwhile(server, reader):
    with server.start("migrate", *AFTER) as migrating:
        while "trying again" not in (line := migrating.stdout.readline()):
            assert line, "it ended"
        with psycopg.connect(server.env["DATABASE_URL"], autocommit=True) as annotator:
            waited = 0.0
            for _ in range(40):
                started = time.perf_counter()
                annotator.execute(ASK)
                waited = max(waited, time.perf_counter() - started)
                time.sleep(0.05)
        assert waited < 3  # migrate locks campaigns while it waits for answers, and releases them
        assert not is_applied(server)
        reader.rollback()
        assert migrating.wait(timeout=120) == 0
    assert is_applied(server)


def test_it_gives_up_and_says_what_to_do(server, reader):
    done = server.run("migrate", *AFTER, "--patience", "0", check=False)
    assert done.returncode == 1
    assert "A table is in use" in done.stderr
    assert "Traceback" not in done.stderr
    assert not is_applied(server)
