"""Migration operations for large tables in use, which avoid long locks on PostgreSQL.

On SQLite, where a migration has the database to itself, each behaves like Django's operation of its kind.
"""

from collections.abc import Sequence
from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import AddConstraint, AddIndex, AlterField, SeparateDatabaseAndState
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


def _on_postgres(editor: BaseDatabaseSchemaEditor) -> bool:
    return editor.connection.vendor == "postgresql"


def _drop_unfinished(editor: BaseDatabaseSchemaEditor, name: str) -> None:
    """Drop the remains of an interrupted attempt to create an index, so that it can be repeated."""
    editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {editor.quote_name(name)}", params=None)


class AtOnce(SeparateDatabaseAndState):
    """Change the definition of a table in one batch, with a short lock.

    Django needs a second or more to generate the statements, so this is done before the table is locked. If a long
    statement uses the table, the lock attempt times out: `migrate` then rolls back the migration, which releases its
    other locks, and tries again.
    """

    def __init__(self, model_name: str, operations: Sequence[Operation]) -> None:
        super().__init__(database_operations=operations, state_operations=operations)
        self.model_name = model_name
        self.operations = operations

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        return type(self).__name__, [self.model_name, self.operations], {}

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        if not _on_postgres(schema_editor) or schema_editor.collect_sql:
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        table = from_state.apps.get_model(app_label, self.model_name)._meta.db_table
        with schema_editor.connection.schema_editor(collect_sql=True, atomic=False) as collector:
            super().database_forwards(app_label, collector, from_state, to_state)
        schema_editor.execute(f"LOCK TABLE {schema_editor.quote_name(table)} IN ACCESS EXCLUSIVE MODE")
        for statement in collector.collected_sql:
            schema_editor.execute(statement, params=None)

    def describe(self) -> str:
        return f"Change the table of {self.model_name} at once"


class _DifferentOnPostgres(Operation):
    """Django's operation of this kind, but with its own statements on PostgreSQL. Name it before Django's class."""

    model_name: str

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        if not _on_postgres(schema_editor):
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        model = to_state.apps.get_model(app_label, self.model_name)
        if self.allow_migrate_model(schema_editor.connection.alias, model):
            self.change_on_postgres(model, schema_editor)

    def change_on_postgres(self, model: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
        raise NotImplementedError


class AddUncheckedConstraint(_DifferentOnPostgres, AddConstraint):
    """Add a constraint that checks only new rows; `CheckConstraintOfAllRows` checks the existing ones."""

    def change_on_postgres(self, model: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
        sql = self.constraint.create_sql(model, schema_editor)
        schema_editor.execute(f"{sql} NOT VALID", params=None)


class AllowNull(_DifferentOnPostgres, AlterField):
    """Allow NULL in a column, without dropping and re-adding a foreign key as Django does, which checks all rows."""

    def change_on_postgres(self, model: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
        quote = schema_editor.quote_name
        column = model._meta.get_field(self.name).column
        schema_editor.execute(
            f"ALTER TABLE {quote(model._meta.db_table)} ALTER COLUMN {quote(column)} DROP NOT NULL",
            params=None,
        )


class CheckConstraintOfAllRows(Operation):
    """Check that all rows satisfy an unchecked constraint, without blocking reads and writes."""

    reversible = True

    def __init__(self, model_name: str, name: str) -> None:
        self.model_name = model_name
        self.name = name

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        pass

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,  # noqa: ARG002
        to_state: ProjectState,
    ) -> None:
        if _on_postgres(schema_editor):
            table = to_state.apps.get_model(app_label, self.model_name)._meta.db_table
            quote = schema_editor.quote_name
            schema_editor.execute(f"ALTER TABLE {quote(table)} VALIDATE CONSTRAINT {quote(self.name)}")

    def database_backwards(self, *_: Any) -> None:
        pass

    def describe(self) -> str:
        return f"Check all rows against {self.name} of {self.model_name}"


class AddIndexOnline(_DifferentOnPostgres, AddIndex):
    """Add an index without blocking writes; its migration must have `atomic = False`."""

    def change_on_postgres(self, model: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
        _drop_unfinished(schema_editor, self.index.name)
        sql = self.index.create_sql(model, schema_editor, concurrently=True)
        schema_editor.execute(sql, params=None)


class AddUniqueIndexOnline(_DifferentOnPostgres, AddConstraint):
    """Add a unique constraint that is an index (with expressions or a condition) without blocking writes.

    Its migration must have `atomic = False`.
    """

    def change_on_postgres(self, model: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
        sql = str(self.constraint.create_sql(model, schema_editor))
        begin = "CREATE UNIQUE INDEX "
        if not sql.startswith(begin):
            raise ValueError(f"{self.constraint.name} is not a separate index: {sql}")
        _drop_unfinished(schema_editor, self.constraint.name)
        schema_editor.execute(f"{begin}CONCURRENTLY {sql.removeprefix(begin)}", params=None)
