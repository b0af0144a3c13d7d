"""Many rows of a query as numpy columns, if possible without a Python object per field.

PostgreSQL returns a whole column of a page as one binary array. SQLite does so as text if all columns are whole
numbers: one step of its cursor, during which other threads run, instead of one step per row. It would round fractions,
so rows with fractions are read one by one. Null is −1 in whole numbers, NaN in fractions.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import psycopg
from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.models import QuerySet
from numpy.typing import NDArray

# How a column is read.
INTEGER = "integer"
BOOLEAN = "boolean"
NUMBER = "number"
SECONDS = "seconds"  # a fraction, to the thousandth
DAY = "day"  # days since 1970, in UTC

_EPOCH_DAY = {
    "postgresql": "floor(extract(epoch from {}) / 86400)",
    "sqlite": "CAST(strftime('%%s', {}) AS INTEGER) / 86400",
}
_THOUSAND = 1000
_ARRAY_HEADER = 20  # dimensions, flags, type, length, lower bound: four bytes each

Columns = dict[str, NDArray[Any]]


def read_columns(queryset: QuerySet[Any], columns: Mapping[str, str]) -> Columns:
    """Read the named columns of all rows, in any order of rows, through the queryset's own connection."""
    database = connections[queryset.db]
    try:
        sql, parameters = _sql(queryset.order_by(), columns)
    except EmptyResultSet:  # Django knows without asking the database that nothing can match
        return _empty(columns)
    names = [f"c{index}" for index in range(len(columns))]
    chosen = [
        _select(database.vendor, name, kind) for name, kind in zip(names, columns.values(), strict=True)
    ]
    if database.vendor == "postgresql":
        selected = ", ".join(f"array_agg({expression})" for expression in chosen)
    elif NUMBER in columns.values():
        selected = ", ".join(chosen)
    else:
        selected = ", ".join(f"group_concat({expression}, ' ')" for expression in chosen)
    statement = f"WITH q({', '.join(names)}) AS ({sql}) SELECT {selected} FROM q"  # noqa: S608 -- our own names
    with database.cursor() as cursor:
        if database.vendor == "postgresql":
            return _arrays(cursor, statement, parameters, columns)
        cursor.execute(statement, parameters)
        if NUMBER in columns.values():
            return _columns(cursor.fetchall(), columns)
        return _texts(cursor.fetchone(), columns)


def _sql(queryset: QuerySet[Any], columns: Mapping[str, str]) -> tuple[str, tuple[Any, ...]]:
    compiler = queryset.values_list(*columns).query.get_compiler(connection=connections[queryset.db])
    sql, parameters = compiler.as_sql()
    return sql, tuple(parameters)


def _select(vendor: str, name: str, kind: str) -> str:
    if kind == DAY:
        name = _EPOCH_DAY[vendor].format(name)
    elif kind == SECONDS:
        name = f"CAST(round({name} * {_THOUSAND}) AS BIGINT)"
    if vendor == "sqlite":
        return name if kind == NUMBER else f"coalesce({name}, -1)"
    if kind == NUMBER:
        return f"coalesce({name}, 'NaN')::float8"
    return f"coalesce({name}{'::int' if kind == BOOLEAN else ''}, -1)::int8"


def _arrays(cursor: Any, statement: str, parameters: tuple[Any, ...], columns: Mapping[str, str]) -> Columns:
    """Take the arrays as PostgreSQL sends them: a header, then length and value of each element."""
    # Django's cursor binds parameters here and not at the server, and cannot be sent anything but text.
    raw = psycopg.Cursor(cursor.connection)
    raw.execute(cursor.mogrify(statement, parameters).encode(), binary=True)
    arrays = _empty(columns)
    if raw.pgresult is None:
        raise TypeError("a query without a result")
    for index, (name, kind) in enumerate(columns.items()):
        sent = raw.pgresult.get_value(0, index)
        if sent is None:  # no rows
            return arrays
        element = np.dtype([("length", ">i4"), ("value", ">f8" if kind == NUMBER else ">i8")])
        values = np.frombuffer(sent, dtype=element, offset=_ARRAY_HEADER)["value"]
        arrays[name] = _of_kind(values, kind)
    return arrays


def _texts(row: tuple[str | None, ...], columns: Mapping[str, str]) -> Columns:
    """Take each column as SQLite joined it; no rows give null."""
    arrays = {
        name: _of_kind(np.fromstring(text or "", dtype=np.int64, sep=" "), kind)
        for (name, kind), text in zip(columns.items(), row, strict=True)
    }
    if len({len(values) for values in arrays.values()}) != 1:
        raise ValueError("SQLite returned columns of different lengths")
    return arrays


def _columns(rows: list[tuple[Any, ...]], columns: Mapping[str, str]) -> Columns:
    if not rows:
        return _empty(columns)
    # None is a null number; a float represents every key below 2**53.
    table = np.array(rows, dtype=np.float64)
    return {name: _of_kind(table[:, index], kind) for index, (name, kind) in enumerate(columns.items())}


def _of_kind(values: NDArray[Any], kind: str) -> NDArray[Any]:
    if kind == SECONDS:
        return np.where(values < 0, np.nan, values / _THOUSAND)
    return values.astype(_dtype(kind))


def _dtype(kind: str) -> type:
    return np.float64 if kind in {NUMBER, SECONDS} else np.int64


def _empty(columns: Mapping[str, str]) -> Columns:
    return {name: np.empty(0, dtype=_dtype(kind)) for name, kind in columns.items()}
