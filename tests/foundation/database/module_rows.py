"""Rows shared by the tests of a module: written before the first test and rolled back after the last.

Each test runs in a savepoint inside their transaction, so it may change the rows without affecting the next test.
Not for modules with tests that commit, or whose rows a live server or another thread reads.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection, transaction
from django.test import override_settings

from tests.foundation.database.keys import restart_keys

FAST_HASHES = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@contextmanager
def module_rows(write: Callable[[Path], None], *, unblock: Callable, folder: Path) -> Iterator[None]:
    """Keep the rows that `write` creates until the block ends; files are in `folder`."""
    shared = transaction.atomic()
    shared._from_testcase = True  # operations with `durable=True` may run inside a test
    with unblock():
        shared.__enter__()
        try:
            restart_keys(connection)
            with override_settings(MEDIA_ROOT=folder, PASSWORD_HASHERS=FAST_HASHES):
                write(folder)
        except BaseException:
            _roll_back(shared)
            raise
    try:
        yield
    finally:
        with unblock():
            _roll_back(shared)


def _roll_back(shared: transaction.Atomic) -> None:
    transaction.set_rollback(True)
    shared.__exit__(None, None, None)
