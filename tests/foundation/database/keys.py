"""Primary keys that do not depend on earlier tests."""

from functools import cache

from django.apps import apps
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper


def restart_keys(connection: BaseDatabaseWrapper) -> None:
    """Reset the key sequences of all tables to their current rows.

    Tests that are rolled back leave PostgreSQL's sequences advanced, and tests that commit leave SQLite's sequences
    advanced. Draws are hashes of keys, so without a reset a test of draws would differ between runs.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_setval_of_all())
            return
        cursor.execute("SELECT name FROM sqlite_sequence ORDER BY name")
        if tables := tuple(name for (name,) in cursor.fetchall()):
            cursor.execute(_sequence_of(tables))


@cache
def _sequence_of(tables: tuple[str, ...]) -> str:
    cases = (f"WHEN '{table}' THEN (SELECT COALESCE(MAX(rowid), 0) FROM \"{table}\")" for table in tables)
    return f"UPDATE sqlite_sequence SET seq = CASE name {' '.join(cases)} END"


@cache
def _setval_of_all() -> str:
    keys = (
        (model._meta.db_table, model._meta.pk.column)
        for model in apps.get_models(include_auto_created=True)
        if isinstance(model._meta.pk, models.AutoField)
    )
    last = "COALESCE((SELECT max({1}) FROM {0}), 0) + 1"
    calls = (
        f"setval(pg_get_serial_sequence('{key[0]}', '{key[1]}'), {last.format(*key)}, false)" for key in keys
    )
    return f"SELECT {', '.join(calls)}"
