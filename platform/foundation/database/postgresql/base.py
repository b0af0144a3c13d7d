"""Django's PostgreSQL, with less asked of the server: statements prepared once, no question whether it is there."""

import select
from collections.abc import Mapping, Sequence
from typing import Any

from django.db.backends.postgresql import base
from psycopg import Cursor


class DatabaseWrapper(base.DatabaseWrapper):
    """`run_prepared` for the statements of `foundation.database.statements`; a health check without a round trip."""

    _prepared: Cursor[Any] | None = None

    def run_prepared(self, query: str, parameters: Mapping[str, Any] | Sequence[Any]) -> Cursor[Any]:
        """Run a statement that the server planned once for this connection; one cursor serves them all."""
        self.close_if_health_check_failed()
        self.ensure_connection()
        with self.wrap_database_errors:
            if self._prepared is None or self._prepared.connection is not self.connection:
                self._prepared = Cursor(self.connection)
            if self.queries_logged:
                self.queries_log.append({"sql": query, "time": ""})
            return self._prepared.execute(query, parameters, prepare=True)

    def is_usable(self) -> bool:
        """Return whether a kept connection lives. One that ended, as at a restart, has that to read."""
        if self.connection is None or self.connection.closed:
            return False
        waiting = select.poll()
        waiting.register(self.connection.pgconn.socket, select.POLLIN)
        return not waiting.poll(0) or bool(super().is_usable())
