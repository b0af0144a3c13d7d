"""Rows of a query as a numpy array, without a Python object per field: millions of judgements fit."""

from typing import Any

import numpy as np
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet

from analysis.metrics.data.arrays import Array

_AT_ONCE = 50_000


def fetch(queryset: QuerySet[Any], *columns: str, dtype: type = np.int64) -> Array:
    """Return columns of `queryset` as an array (rows × columns) of one number type; null needs a float."""
    parts: list[Array] = [np.empty((0, len(columns)), dtype=dtype)]
    try:
        sql, params = queryset.order_by().values_list(*columns).query.sql_with_params()
    except EmptyResultSet:  # Django knows without asking the database that nothing can match
        return parts[0]
    with connection.chunked_cursor() as cursor:
        cursor.execute(sql, params)
        while rows := cursor.fetchmany(_AT_ONCE):
            parts.append(np.array(rows, dtype=dtype))
    return np.concatenate(parts)
