"""Tables are changed while people use them, without long waits."""

import time
from contextlib import contextmanager

import pytest
from django.db import OperationalError, connection, migrations, models, transaction
from django.db.migrations.loader import MigrationLoader

from foundation.database.online import AllowNull, AtOnce
from foundation.database.postgresql.schema import LOCK_TIMEOUT_MS

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


def change(default=""):
    field = models.CharField(max_length=40, default=default)
    return AtOnce("point", [migrations.AddField("point", "note", field)])


def apply(operation, look=COLUMN):
    """Run an operation as a migration does, return the result of `look`, and roll everything back."""
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


def test_a_lock_that_is_not_free_is_given_up_and_others_do_not_wait_behind_it():
    with another_connection() as reader, another_connection() as other:
        reader.autocommit, other.autocommit = False, True
        reader.execute(READ)  # a long report: it keeps its lock until its transaction ends
        started = time.perf_counter()
        with pytest.raises(OperationalError, match="lock timeout"):
            apply(change())
        assert LOCK_TIMEOUT_MS / 1000 < time.perf_counter() - started < 30
        other.execute(READ)
        reader.rollback()
        assert apply(change())


def test_every_change_of_tables_waits_a_moment_only_and_nothing_else_does():
    field = models.CharField(max_length=40, default="")
    with another_connection() as reader:
        reader.autocommit = False
        reader.execute(READ)
        with pytest.raises(OperationalError, match="lock timeout"):
            apply(migrations.AddField("point", "note", field))
    with connection.cursor() as cursor:
        with connection.schema_editor(atomic=False):
            cursor.execute("SHOW lock_timeout")
            assert cursor.fetchone() == (f"{LOCK_TIMEOUT_MS}ms",)
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("0",)


def test_an_index_that_is_made_beside_writing_waits_for_as_long_as_it_takes():
    with (
        connection.cursor() as cursor,
        connection.execute_wrapper(remember := Statements()),
        connection.schema_editor(atomic=False) as editor,
    ):
        editor.execute("CREATE INDEX CONCURRENTLY point_test ON annotation_point (x)")
        editor.execute("DROP INDEX CONCURRENTLY point_test")
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == (f"{LOCK_TIMEOUT_MS}ms",)
    made = next(place for place, sql in enumerate(remember.sql) if sql.startswith("CREATE INDEX"))
    assert remember.sql[made - 1] == "SET lock_timeout = 0"


class Statements:
    def __init__(self):
        self.sql = []

    def __call__(self, execute, sql, params, many, context):
        self.sql.append(sql)
        return execute(sql, params, many, context)


def test_the_version_before_goes_on_inserting_rows_without_a_new_column():
    field = models.CharField(max_length=40, default="as before")
    look = (
        "SELECT column_default FROM information_schema.columns"
        " WHERE table_name = 'annotation_point' AND column_name = 'note'"
    )
    for operation in (migrations.AddField("point", "note", field), change(default="as before")):
        assert apply(operation, look) == [("'as before'::character varying",)]
