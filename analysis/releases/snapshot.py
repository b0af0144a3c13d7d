"""One consistent view of the database for as long as a release is read, while others go on writing."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

_ALIAS = "release_snapshot"


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


def _begin(own: BaseDatabaseWrapper) -> None:
    """Begin by hand: Django's own transactions on SQLite would keep every writer waiting until the end."""
    own.ensure_connection()
    with own.cursor() as cursor:
        if own.vendor == "postgresql":
            cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            # Aggregation and joins of one release at a time may use more than the frugal default.
            cursor.execute("SET LOCAL work_mem = '64MB'")
        else:
            cursor.execute("PRAGMA cache_size = -8192")
            cursor.execute("PRAGMA query_only = ON")
            cursor.execute("BEGIN DEFERRED")
        # A snapshot is taken by the first statement that reads.
        cursor.execute("SELECT 1 FROM studies_study LIMIT 1")
        cursor.fetchall()
