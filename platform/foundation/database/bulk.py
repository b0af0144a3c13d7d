"""Bulk inserts and updates: allocated keys, then COPY on PostgreSQL and executemany on SQLite.

For imports of 100,000 judgements or more, where one object per row would take minutes. Values must already have the
types of the columns: only the database's constraints validate them.
"""

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db import connection, models, transaction

# Rows that SQLite samples per index: takes milliseconds and distinguishes few from many.
_ROWS_LOOKED_AT = 1_000


def allocate_keys(model: type[models.Model], count: int) -> list[int]:
    """Reserve `count` primary keys of `model`; insert the rows in this transaction, before reserving more."""
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError("allocate_keys needs a transaction around it")
    if count == 0:
        return []
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_get_serial_sequence(%s, %s)", [f'"{table}"', model._meta.pk.column])
            sequence = cursor.fetchone()[0]
            # nextval is atomic, so no other process gets the same key.
            cursor.execute("SELECT nextval(%s::regclass) FROM generate_series(1, %s)", [sequence, count])
            return [key for (key,) in cursor.fetchall()]
        # SQLite has one writer, and transactions begin IMMEDIATE, so the largest key cannot change meanwhile.
        cursor.execute("SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = %s", [table])
        start = cursor.fetchone()[0] + 1
        return list(range(start, start + count))


def insert(model: type[models.Model], columns: Mapping[str, Sequence[Any]]) -> int:
    """Insert rows given column by column (field attname → values) and return their number.

    A column left out gets its database default, not its Python default.
    """
    fields = [_column(model, name) for name in columns]
    values = [_stored(field, cells) for field, cells in zip(fields, columns.values(), strict=True)]
    names = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    table = connection.ops.quote_name(model._meta.db_table)
    if connection.vendor == "postgresql":
        # Django passes `copy` to the driver without converting its errors, so convert them here.
        statement = f"COPY {table} ({names}) FROM STDIN"
        with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in zip(*values, strict=True):
                copy.write_row(row)
    else:
        places = ", ".join(["%s"] * len(fields))
        rows: Any = zip(*values, strict=True)  # an iterator suffices, although Django's type is a sequence
        with connection.cursor() as cursor:
            cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({places})", rows)  # noqa: S608 -- quoted
    return len(next(iter(columns.values())))


def update(model: type[models.Model], keys: Sequence[int], columns: Mapping[str, Sequence[Any]]) -> None:
    """Update rows by primary key; `columns` maps field attname → one value per key."""
    if not keys:
        return
    fields = [_column(model, name) for name in columns]
    values = [list(_stored(field, cells)) for field, cells in zip(fields, columns.values(), strict=True)]
    quoted = [connection.ops.quote_name(str(field.column)) for field in fields]
    table = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            kinds = [str(field.db_type(connection)) for field in fields]
            arrays = ", ".join(f"CAST(%s AS {kind}[])" for kind in ("bigint", *kinds))
            names = ", ".join(f"v{place}" for place in range(len(fields)))
            sets = ", ".join(f"{name} = given.v{place}" for place, name in enumerate(quoted))
            cursor.execute(
                f"UPDATE {table} SET {sets} FROM unnest({arrays}) AS given(key, {names})"  # noqa: S608 -- quoted
                f" WHERE {table}.id = given.key",
                [list(keys), *values],
            )
            return
        sets = ", ".join(f"{name} = %s" for name in quoted)
        rows: Any = zip(*values, keys, strict=True)
        cursor.executemany(f"UPDATE {table} SET {sets} WHERE id = %s", rows)  # noqa: S608 -- quoted


def refresh_statistics(*tables: type[models.Model]) -> None:
    """Update the planner's statistics of tables, which PostgreSQL does late or never, and SQLite never.

    Otherwise, queries after a large insert are planned for empty tables and take minutes.
    """
    names = [connection.ops.quote_name(table._meta.db_table) for table in tables]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"ANALYZE {', '.join(names)}")
            return
        cursor.execute(f"PRAGMA analysis_limit = {_ROWS_LOOKED_AT}")
        for name in names:
            cursor.execute(f"ANALYZE {name}")


def _column(model: type[models.Model], name: str) -> models.Field[Any, Any]:
    field = model._meta.get_field(name)
    if not isinstance(field, models.Field):
        raise TypeError(f"{model.__name__}.{name} is not a column")
    return field


def new_uuids(count: int) -> list[uuid.UUID]:
    """Return `count` random UUIDs."""
    return [uuid.uuid4() for _ in range(count)]


def _stored(field: models.Field[Any, Any], values: Iterable[Any]) -> Iterable[Any]:
    """Convert values for the driver; only these types of columns need a conversion."""
    sqlite = connection.vendor == "sqlite"
    if isinstance(field, models.JSONField):
        return (json.dumps(value) for value in values)
    if sqlite and isinstance(field, models.UUIDField):
        return (value.hex for value in values)
    if sqlite and isinstance(field, models.DateTimeField):
        return (_sqlite_moment(value) for value in values)
    return values


def _sqlite_moment(value: datetime | None) -> str | None:
    # As Django stores aware datetimes in SQLite: UTC without offset.
    return None if value is None else str(value.astimezone(UTC).replace(tzinfo=None))
