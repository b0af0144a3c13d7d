"""Rows that the tests of a module share: written once, before the first of them, and rolled back after the last.

Each test runs in a savepoint inside their transaction, so that it may change them: the next test finds them as they
were written. Not for modules with tests that commit, or whose rows a live server or another thread reads.
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
    """Keep what `write` writes until the block ends; files are in `folder`."""
    shared = transaction.atomic()
    shared._from_testcase = True  # verbs that want a transaction of their own may begin one in a test
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
