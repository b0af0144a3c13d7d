"""Django's PostgreSQL back-end, with prepared statements and a health check without a query."""

import select
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from django.db.backends.postgresql import base
from psycopg import Cursor

from foundation.database.postgresql.schema import DatabaseSchemaEditor

Parameters = Mapping[str, Any] | Sequence[Any]


class DatabaseWrapper(base.DatabaseWrapper):
    """Adds `run_prepared` for `foundation.database.statements`, and a health check without a round trip."""

    SchemaEditorClass = DatabaseSchemaEditor
    _prepared: Cursor[Any] | None = None

    def run_prepared(self, query: str, parameters: Parameters) -> Cursor[Any]:
        """Run a statement, prepared once per connection; one cursor is used for all statements."""
        self.close_if_health_check_failed()
        self.ensure_connection()
        with self.wrap_database_errors:
            if self._prepared is None or self._prepared.connection is not self.connection:
                self._prepared = Cursor(self.connection)
            if self.queries_logged:
                self.queries_log.append({"sql": query, "time": ""})
            if self.execute_wrappers:
                return self._run_wrapped(self._prepared, query, parameters)
            return self._prepared.execute(query, parameters, prepare=True)

    def _run_wrapped(self, cursor: Cursor[Any], query: str, parameters: Parameters) -> Cursor[Any]:
        """Run a prepared statement inside the `execute_wrapper`s, as Django's own cursors do."""

        def execute(query: str, parameters: Parameters, *_: Any) -> Any:
            return cursor.execute(query, parameters, prepare=True)

        run: Callable[..., Any] = execute
        for wrapper in reversed(self.execute_wrappers):
            run = partial(wrapper, run)
        run(query, parameters, False, {"connection": self, "cursor": cursor})
        return cursor

    def is_usable(self) -> bool:
        """Return whether a persistent connection is alive; a connection closed by the server is readable."""
        if self.connection is None or self.connection.closed:
            return False
        waiting = select.poll()
        waiting.register(self.connection.pgconn.socket, select.POLLIN)
        return not waiting.poll(0) or bool(super().is_usable())
