"""Schema changes while an earlier version of the software is running."""

from typing import Any

from django.db.backends.postgresql import schema
from django.db.models import Field, Model

# A waiting lock request blocks all later ones, so it must be short. `migrate` retries it.
LOCK_TIMEOUT_MS = 200


class DatabaseSchemaEditor(schema.DatabaseSchemaEditor):
    """Waits only briefly for locks, and keeps the database default of new columns."""

    def __enter__(self) -> "DatabaseSchemaEditor":
        super().__enter__()
        if not self.collect_sql:
            # For the transaction, if there is one, else until the editor exits.
            self.execute(f"SET {'LOCAL ' * self.connection.in_atomic_block}lock_timeout = {LOCK_TIMEOUT_MS}")
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        try:
            super().__exit__(exc_type, exc_value, traceback)
        finally:
            if not self.collect_sql and not self.connection.in_atomic_block:
                with self.connection.cursor() as cursor:
                    cursor.execute("RESET lock_timeout")

    def execute(self, sql: Any, params: Any = ()) -> None:
        """Run a statement; CONCURRENTLY statements, which block nobody, may wait for locks."""
        if " CONCURRENTLY " not in str(sql) or self.collect_sql:
            super().execute(sql, params)
            return
        super().execute("SET lock_timeout = 0")
        try:
            super().execute(sql, params)
        finally:
            super().execute(f"SET lock_timeout = {LOCK_TIMEOUT_MS}")

    def _alter_column_default_sql(
        self,
        model: type[Model],
        old_field: "Field[Any, Any] | None",
        new_field: "Field[Any, Any]",
        drop: bool = False,
    ) -> Any:
        # After adding a column, Django drops the default with which it filled the rows. The previous version
        # continues to insert rows without the column, so keep it.
        return super()._alter_column_default_sql(  # type: ignore[misc]  # the stubs leave it out
            model, old_field, new_field, drop=drop and old_field is not None
        )
