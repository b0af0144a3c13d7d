"""Hand-written statements for frequent queries, which are planned once and then only run.

PostgreSQL needs longer to plan some of them than to run them, so they are prepared on the server
(`foundation.database.postgresql`). SQLite caches statements itself.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model

Found = TypeVar("Found", bound=Model)
Parameters = Mapping[str, Any] | Sequence[Any]


def rows(query: str, parameters: Parameters) -> list[tuple[Any, ...]]:
    """Return the rows of a statement."""
    database: Any = connections[DEFAULT_DB_ALIAS]  # `foundation.database.postgresql` on PostgreSQL
    if database.vendor == "postgresql":
        return list(database.run_prepared(query, parameters).fetchall())
    with database.cursor() as cursor:
        cursor.execute(query, parameters)
        return list(cursor.fetchall())


def changed(query: str, parameters: Parameters) -> int:
    """Run a statement and return the number of rows changed."""
    database: Any = connections[DEFAULT_DB_ALIAS]  # `foundation.database.postgresql` on PostgreSQL
    if database.vendor == "postgresql":
        return int(database.run_prepared(query, parameters).rowcount)
    with database.cursor() as cursor:
        cursor.execute(query, parameters)
        return int(cursor.rowcount)


def insert(table: str, lines: Sequence[Sequence[Any]], returning: str) -> list[tuple[Any, ...]]:
    """Insert lines into a `table (with, its, columns)` and return the columns `returning` of each line."""
    if not lines:
        return []
    places = f"({', '.join(['%s'] * len(lines[0]))})"
    query = f"INSERT INTO {table} VALUES {', '.join([places] * len(lines))} RETURNING {returning}"  # noqa: S608
    return rows(query, [value for line in lines for value in line])


def known(model: type[Found], **values: Any) -> Found:
    """Return an instance of `model` with only `values` loaded and its other fields deferred.

    `from_db` needs values in the order of the model's columns, so they are sorted here.
    """
    names = [field.attname for field in model._meta.concrete_fields if field.attname in values]
    if len(names) != len(values):
        raise TypeError(f"{model.__name__} has no column for one of {', '.join(values)}.")
    return model.from_db(DEFAULT_DB_ALIAS, names, [values[name] for name in names])
