"""Rows of a query as a numpy array, without a Python object per field: millions of judgements fit."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet

from analysis.metrics.data.arrays import Array

_AT_ONCE = 50_000


def fetch(queryset: QuerySet[Any], *columns: str, dtype: type = np.int64) -> Array:
    """Return columns of `queryset` as an array (rows × columns) of one number type; null needs a float."""
    parts: list[Array] = [np.empty((0, len(columns)), dtype=dtype)]
    parts += [np.array(rows, dtype=dtype) for rows in _batches(queryset, columns)]
    return np.concatenate(parts)


def fetch_frame(
    queryset: QuerySet[Any], *, numbers: Sequence[str], names: Sequence[str], lengths: Sequence[str] = ()
) -> pd.DataFrame:
    """Return columns of `queryset` as a frame: numbers as floats, names as categories, null where null.

    Of texts (`lengths`) only the number of words is kept. No text is held more than once.
    """
    codes: dict[str, dict[str, int]] = {name: {} for name in names}
    parts: list[Array] = [np.empty((0, len(numbers) + len(names) + len(lengths)))]
    for rows in _batches(queryset, (*numbers, *names, *lengths)):
        columns = list(zip(*rows, strict=True))
        first_length = len(numbers) + len(names)
        arrays = [np.array(column, dtype=float) for column in columns[: len(numbers)]]
        arrays += [
            np.array(
                [-1 if value is None else known.setdefault(value, len(known)) for value in column],
                dtype=float,
            )
            for known, column in zip(codes.values(), columns[len(numbers) : first_length], strict=True)
        ]
        arrays += [
            np.array([np.nan if text is None else len(text.split()) for text in column])
            for column in columns[first_length:]
        ]
        parts.append(np.column_stack(arrays))
    values = np.concatenate(parts).T
    frame = pd.DataFrame(dict(zip((*numbers, *names, *lengths), values, strict=True)))
    return frame.assign(
        **{
            name: pd.Categorical.from_codes(frame[name].astype(int), pd.Index(list(known), dtype=object))
            for name, known in codes.items()
        }
    )


def _batches(queryset: QuerySet[Any], columns: Sequence[str]) -> Iterator[list[tuple[Any, ...]]]:
    try:
        sql, params = queryset.order_by().values_list(*columns).query.sql_with_params()
    except EmptyResultSet:  # Django knows without asking the database that nothing can match
        return
    with connection.chunked_cursor() as cursor:
        cursor.execute(sql, params)
        while rows := cursor.fetchmany(_AT_ONCE):
            yield rows
