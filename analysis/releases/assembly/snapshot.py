"""One consistent view of the database while a release is read and others continue to write."""

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
    """Open a separate connection in a read-only snapshot; yield its alias for `queryset.using`.

    The caller's own connection stays free for progress and leases.
    """
    if connection.in_atomic_block:
        # A transaction that is open already need not be a snapshot. Django refuses here, except inside a test.
        with transaction.atomic(durable=True):
            yield DEFAULT_DB_ALIAS
        return
    snapshot_connection = connection.copy(alias=_ALIAS)
    connections[_ALIAS] = snapshot_connection
    try:
        _begin(snapshot_connection)
        yield _ALIAS
    finally:
        snapshot_connection.close()
        del connections[_ALIAS]


def read_ahead(using: str, items: Iterator[T]) -> Iterator[T]:
    """Yield items that are read from the snapshot, reading the next one in a thread while the present one is used.

    The snapshot must not be used for anything else meanwhile. The caller's own connection is not read ahead.
    """
    if using != _ALIAS:
        yield from items
        return
    snapshot_connection = connections[_ALIAS]
    snapshot_connection.inc_thread_sharing()
    try:
        with ThreadPoolExecutor(
            1, "reading a release", initializer=_lend, initargs=(snapshot_connection,)
        ) as thread:
            coming = thread.submit(next, items, _END)
            while (item := coming.result()) is not _END:
                coming = thread.submit(next, items, _END)
                yield item
    finally:
        snapshot_connection.dec_thread_sharing()


def _lend(snapshot_connection: BaseDatabaseWrapper) -> None:
    connections[_ALIAS] = snapshot_connection  # Django keeps one connection per thread


def _begin(snapshot_connection: BaseDatabaseWrapper) -> None:
    """Begin explicitly: Django's own transactions on SQLite would make all writers wait until the end."""
    snapshot_connection.ensure_connection()
    with snapshot_connection.cursor() as cursor:
        if snapshot_connection.vendor == "postgresql":
            cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            # Aggregation and joins may use more memory than the default, because only one release is built at a time.
            cursor.execute("SET LOCAL work_mem = '64MB'")
            # A page's tasks must be looked up by key: with the costs of spinning disks, all tasks would be read for
            # each page.
            cursor.execute("SET LOCAL random_page_cost = 1.1")
        else:
            cursor.execute("PRAGMA cache_size = -8192")
            cursor.execute("PRAGMA query_only = ON")
            cursor.execute("BEGIN DEFERRED")
        # A snapshot is taken by the first statement that reads.
        cursor.execute("SELECT 1 FROM studies_study LIMIT 1")
        cursor.fetchall()
