"""The PostgreSQL server of the tests, with settings that make them faster."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import psycopg
from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper

# Connection options: a commit does not wait for the disk, because tests need not survive a power failure.
UNSYNCHRONIZED = "-c synchronous_commit=off"


def on_postgres() -> bool:
    return str(settings.DATABASES["default"]["ENGINE"]).endswith("postgresql")


def postgres_url(name: str) -> str:
    """Return the address of a database on the server of the tests."""
    database = settings.DATABASES["default"]
    password = f":{quote(str(database['PASSWORD']))}" if database["PASSWORD"] else ""
    place = f"{database['HOST']}:{database['PORT'] or 5432}"
    return f"postgresql://{quote(str(database['USER']))}{password}@{place}/{name}"


def run_on_server(statement: str) -> list[tuple[str, ...]]:
    """Run a statement outside any transaction and return its rows."""
    with psycopg.connect(postgres_url("postgres"), autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def delete_instead_of_truncating(connection: BaseDatabaseWrapper) -> None:
    """Empty tables after a test by DELETE, and only those that have rows.

    TRUNCATE of all 78 tables creates new files for each and its indexes, which takes half a second or more, although
    a test leaves few rows in some of them. Foreign keys are checked when the transaction ends, so any order works.
    """

    def sql_flush(style: Any, tables: Sequence[str], **_: bool) -> list[str]:
        exist = ", ".join(f'EXISTS (SELECT 1 FROM "{table}")' for table in tables)
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {exist}")
            nonempty = [table for table, rows in zip(tables, cursor.fetchone(), strict=True) if rows]
        return [f'DELETE FROM "{table}"' for table in nonempty]

    # Django has no setting for this, so only the connection of the tests is changed.
    connection.ops.sql_flush = sql_flush  # type: ignore[method-assign]
