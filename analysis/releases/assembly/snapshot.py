"""One consistent view of the database for as long as a release is read, while others go on writing."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

_ALIAS = "release_snapshot"
_END: Any = object()
T = TypeVar("T")


@contextmanager
def snapshot() -> Iterator[str]:
    """Open a connection of its own in a read-only snapshot; yield its alias for `queryset.using`.

    The connection of whoever calls stays free for progress and leases.
    """
    if connection.in_atomic_block:
        # Somebody's own transaction need not be a snapshot: Django refuses, except to a test around us.
        with transaction.atomic(durable=True):
            yield DEFAULT_DB_ALIAS
        return
    own = connection.copy(alias=_ALIAS)
    connections[_ALIAS] = own
    try:
        _begin(own)
        yield _ALIAS
    finally:
        own.close()
        del connections[_ALIAS]


def read_ahead(using: str, items: Iterator[T]) -> Iterator[T]:
    """Yield items that are read from the snapshot, the next one read in a thread while one is worked with.

    Nobody else may use the snapshot meanwhile. The connection of whoever calls (see `snapshot`) is not read ahead.
    """
    if using != _ALIAS:
        yield from items
        return
    own = connections[_ALIAS]
    own.inc_thread_sharing()
    try:
        with ThreadPoolExecutor(1, "reading a release", initializer=_lend, initargs=(own,)) as thread:
            coming = thread.submit(next, items, _END)
            while (item := coming.result()) is not _END:
                coming = thread.submit(next, items, _END)
                yield item
    finally:
        own.dec_thread_sharing()


def _lend(own: BaseDatabaseWrapper) -> None:
    connections[_ALIAS] = own  # connections are told apart by thread


def _begin(own: BaseDatabaseWrapper) -> None:
    """Begin by hand: Django's own transactions on SQLite would keep every writer waiting until the end."""
    own.ensure_connection()
    with own.cursor() as cursor:
        if own.vendor == "postgresql":
            cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            # Aggregation and joins of one release at a time may use more than the frugal default.
            cursor.execute("SET LOCAL work_mem = '64MB'")
            # A page's tasks are looked up by key: as on spinning disks, all of them would be read for each page.
            cursor.execute("SET LOCAL random_page_cost = 1.1")
        else:
            cursor.execute("PRAGMA cache_size = -8192")
            cursor.execute("PRAGMA query_only = ON")
            cursor.execute("BEGIN DEFERRED")
        # A snapshot is taken by the first statement that reads.
        cursor.execute("SELECT 1 FROM studies_study LIMIT 1")
        cursor.fetchall()
