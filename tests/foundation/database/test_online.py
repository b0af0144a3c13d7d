"""A table is changed beside people who work with it: nobody waits long, and whoever reads for long is waited for."""

import time
from contextlib import contextmanager
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import OperationalError, connection, migrations, models, transaction
from django.db.migrations.loader import MigrationLoader

from foundation.database.online import AllowNull, AtOnce

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="about PostgreSQL"),
]
COLUMN = (
    "SELECT 1 FROM information_schema.columns WHERE table_name = 'annotation_point' AND column_name = 'note'"
)
READ = "SELECT COUNT(*) FROM annotation_point"


FOREIGN_KEYS = (
    "SELECT oid FROM pg_constraint WHERE contype = 'f' AND conrelid = 'annotation_point'::regclass ORDER BY 1"
)
NULLABLE = (
    "SELECT is_nullable FROM information_schema.columns"
    " WHERE table_name = 'annotation_point' AND column_name = 'judgement_id'"
)


def change(**more):
    field = models.CharField(max_length=40, default="", db_default="")
    return AtOnce("point", [migrations.AddField("point", "note", field)], **more)


def apply(operation, look=COLUMN):
    """Run an operation as a migration does, return what `look` finds, and take all of it back."""
    before = MigrationLoader(connection).project_state()
    after = before.clone()
    operation.state_forwards("annotation", after)
    with transaction.atomic():
        with connection.schema_editor(atomic=False) as editor:
            operation.database_forwards("annotation", editor, before, after)
        with connection.cursor() as cursor:
            cursor.execute(look)
            found = cursor.fetchall()
        transaction.set_rollback(True)
    return found


@contextmanager
def another_connection():
    other = connection.copy()
    other.ensure_connection()
    try:
        yield other.connection
    finally:
        other.close()


def test_what_is_changed_is_there_when_the_transaction_ends():
    assert apply(change())


def test_a_column_is_let_be_null_without_looking_up_its_foreign_key_again():
    field = models.ForeignKey("annotation.judgement", models.CASCADE, null=True, related_name="points")
    operation = AllowNull("point", "judgement", field)
    with connection.cursor() as cursor:
        cursor.execute(FOREIGN_KEYS)
        before = cursor.fetchall()
    assert before
    assert apply(operation, FOREIGN_KEYS) == before
    assert apply(operation, NULLABLE) == [("YES",)]


def test_a_long_reading_is_waited_for_and_others_do_not_wait_behind_it():
    with another_connection() as reader, another_connection() as other:
        reader.autocommit, other.autocommit = False, True
        reader.execute(READ)  # a report that takes long: it keeps its lock until its transaction ends
        started = time.perf_counter()
        with pytest.raises(OperationalError, match="lock timeout"):
            apply(change(patience=timedelta(seconds=1)))
        assert time.perf_counter() - started > 1
        other.execute(READ)
        reader.rollback()
        assert apply(change())


def test_it_goes_on_when_the_long_reading_has_ended(monkeypatch):
    with another_connection() as reader:
        reader.autocommit = False
        reader.execute(READ)
        pauses = []

        def end_reading(seconds):
            pauses.append(seconds)
            reader.rollback()

        clock = SimpleNamespace(sleep=end_reading, monotonic=time.monotonic)
        monkeypatch.setattr("foundation.database.online.time", clock)
        assert apply(change())
        assert pauses
