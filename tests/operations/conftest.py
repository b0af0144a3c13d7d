"""A server that is filled once for all tests of a process, and a backup of it."""

import shutil

import pytest

from tests.foundation.database.own_database import own_server

KEY = "a key for tests only, long enough to be one"


@pytest.fixture(scope="session")
def filled(tmp_path_factory, django_db_setup):
    """Return a server with content that no test changes, and the digest of its report."""
    folder = tmp_path_factory.mktemp("source")
    with own_server(folder) as server:
        digest = server.ask("from tests.operations.source import fill\nanswer = fill()")
        yield server, digest


@pytest.fixture(scope="session")
def backed_up(filled, tmp_path_factory):
    """Return a folder with one backup of the filled server; copy it before changing it."""
    folder = tmp_path_factory.mktemp("backups") / "kept"
    filled[0].run("backup", str(folder))
    return folder


@pytest.fixture
def copied(backed_up, tmp_path):
    """Return a copy of the backup that a test may change."""
    return shutil.copytree(backed_up, tmp_path / "copied")
