"""Changes of tables beside a version of the software that does not know them yet."""

from typing import Any

from django.db.backends.postgresql import schema
from django.db.models import Field, Model

# Who asks for a lock makes everybody behind them wait, so it is asked for a moment at a time. `migrate` tries again.
LOCK_TIMEOUT_MS = 200


class DatabaseSchemaEditor(schema.DatabaseSchemaEditor):
    """Waits for locks for a moment only, and leaves new columns the default with which it filled them."""

    def __enter__(self) -> "DatabaseSchemaEditor":
        super().__enter__()
        if not self.collect_sql:
            # For the transaction, if there is one; else until the editor ends.
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
        """Run a statement; one that waits for all open transactions and blocks nobody may wait."""
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
        # After a column was added, Django drops the default with which it filled the rows. The version before this
        # one goes on inserting rows without the column.
        return super()._alter_column_default_sql(  # type: ignore[misc]  # the stubs leave it out
            model, old_field, new_field, drop=drop and old_field is not None
        )
