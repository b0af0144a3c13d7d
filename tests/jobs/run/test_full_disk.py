"""A full disk is reported in one sentence, wherever it occurs: files, the database, PostgreSQL's own code."""

import errno

import psycopg
import pytest
from django.db import OperationalError, connection

from foundation.disks import NO_ROOM, no_room
from tests.foundation.database.own_database import own_server

# SQLite may not add a page, and so reports a full disk.
_FILL = """
from foundation.errors import DomainError
from django.db import connection
from jobs.progress.reporter import Unwatched
from jobs.run.registry import register
from jobs.run.execution import prepare, run_here

def pages(most):
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA max_page_count = {most}")
        return cursor.fetchone()[0]

@register("fill")
def fill(job, progress):
    pages(1)  # less than there are: as many as there are
    Study.objects.create(name="Large", slug="large", seed=1, description="x" * 10_000_000)

job = prepare(kind="fill", title="Fill the disk", arguments={}, by=None)
try:
    run_here(job, Unwatched())
except DomainError as error:
    answer = [error.code, error.message]
"""


@pytest.mark.django_db
def test_a_job_on_a_full_disk_says_so_in_one_sentence(tmp_path):
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL cannot be told to find its disk full")
    with own_server(tmp_path) as server:
        assert server.ask(_FILL) == ["no_room", NO_ROOM]


def test_only_errors_of_a_full_disk_are_recognised_as_such():
    postgres = OperationalError("could not extend file")
    postgres.__cause__ = psycopg.errors.DiskFull("could not extend file")
    postgres.__cause__.sqlstate = "53100"
    assert no_room(postgres)
    assert no_room(OSError(errno.ENOSPC, "No space left on device"))
    assert no_room(OperationalError("database or disk is full"))
    assert not no_room(OSError(errno.EACCES, "Permission denied"))
    assert not no_room(OperationalError("database is locked"))
    assert not no_room(ValueError("disk is full"))
