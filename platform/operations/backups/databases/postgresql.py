"""PostgreSQL: pg_dump with several connections that share one exported snapshot, and pg_restore."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, LiteralString

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from foundation.errors import Conflict, DomainError
from operations.backups.databases.base import MARKER
from operations.backups.databases.migrations import by_app
from operations.backups.manifest import TableContent
from operations.backups.pace import FULL_SPEED, BackupPace

_TABLES: LiteralString = (
    "SELECT c.relname FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace"
    " AND c.relkind IN ('r', 'p') ORDER BY 1"
)
_ROUTINES: LiteralString = (
    "SELECT p.oid::regprocedure::text FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace"
    " AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')"
)
# The sum of 60 bits of the hash of each row as text, independent of the order of rows.
_CONTENT: LiteralString = (
    "SELECT count(*), coalesce(sum(('x' || left(md5(t::text), 15))::bit(60)::bigint), 0)::text FROM {table} t"
    " WHERE ctid >= %s::tid"
)
_PAGES: LiteralString = "SELECT pg_relation_size({table}) / current_setting('block_size')::int"
_PAGES_AT_ONCE = 1_000
# Rows as text must be the same on every server.
_SESSION: LiteralString = (
    "SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres'; SET bytea_output = 'hex';"
    " SET extra_float_digits = 1; SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0"
)
# Restored rows are checked and written to disk at the end; after a crash, the restore starts again.
_RESTORE_OPTIONS = "-c synchronous_commit=off -c maintenance_work_mem=256MB"


class PostgresView:
    """A transaction whose snapshot the connections of pg_dump share."""

    def __init__(
        self, connection: "psycopg.Connection[Any]", database: "PostgresDatabase", pace: BackupPace
    ) -> None:
        self.connection, self.database, self.pace = connection, database, pace
        self.version = _major(connection)

    def dump(self, target: Path, *, jobs: int) -> None:
        (name,) = self.connection.execute("SELECT pg_export_snapshot()").fetchone() or ("",)
        self.database.run(
            "pg_dump",
            "--format=directory",
            f"--jobs={jobs}",
            f"--snapshot={name}",
            # A tenth larger than with the default compression, in a third of its time.
            "--compress=1",
            "--no-owner",
            "--no-privileges",
            f"--file={target}",
            pace=self.pace,
        )

    def migrations(self) -> Mapping[str, list[str]]:
        return by_app(self.connection.execute("SELECT app, name FROM django_migrations").fetchall())

    def tables(self) -> Iterator[tuple[str, TableContent]]:
        for (name,) in self.connection.execute(_TABLES).fetchall():
            if name != MARKER:
                yield name, self._content(name)

    def _content(self, name: str) -> TableContent:
        """Read a table 1,000 pages at a time, resting after each; rows in pages added later are not in the view."""
        table = sql.Identifier(name)
        (pages,) = self.connection.execute(sql.SQL(_PAGES).format(table=sql.Literal(name))).fetchone() or (0,)
        row_count = total = 0
        for first in range(0, max(pages, 1), _PAGES_AT_ONCE):
            started = time.monotonic()
            last = first + _PAGES_AT_ONCE
            query, bounds = sql.SQL(_CONTENT).format(table=table), [f"({first},0)"]
            if last < pages:
                query, bounds = query + sql.SQL(" AND ctid < %s::tid"), [*bounds, f"({last},0)"]
            rows, digest = self.connection.execute(query, bounds).fetchone() or (0, "0")
            row_count, total = row_count + rows, total + int(digest)
            self.pace.rest(time.monotonic() - started)
        return TableContent(rows=row_count, digest=str(total))


class PostgresDatabase:
    """The PostgreSQL database in the settings."""

    engine: Literal["sqlite", "postgresql"] = "postgresql"

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.name = str(settings["NAME"])
        keywords = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}
        parameters = {
            "dbname": self.name,
            "user": settings["USER"],
            "host": settings["HOST"],
            "port": settings["PORT"],
            **{key: value for key, value in settings.get("OPTIONS", {}).items() if key in keywords},
        }
        self.address = make_conninfo(**{key: value for key, value in parameters.items() if value})
        self.password = str(settings["PASSWORD"] or "")

    @contextmanager
    def view(self, pace: BackupPace = FULL_SPEED) -> Iterator[PostgresView]:
        with self._connected() as connection:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            connection.execute("SELECT 1")  # the view begins with the first statement
            yield PostgresView(connection, self, pace)

    def unfinished_restore(self) -> str:
        with self._connected() as connection:
            if (MARKER,) not in connection.execute(_TABLES).fetchall():
                return ""
            row = connection.execute(
                sql.SQL("SELECT backup_name FROM {}").format(sql.Identifier(MARKER))
            ).fetchone()
            return str(row[0]) if row else "unknown"

    def require_empty(self) -> None:
        with self._connected() as connection:
            tables = connection.execute(_TABLES).fetchall()
        if tables:
            raise Conflict(
                "database_not_empty",
                f"The database {self.name} already has {len(tables)} tables: restore needs an empty "
                f"database. Create another database (createdb) and name it in DATABASE_URL.",
            )

    def check_version(self, version: str) -> None:
        with self._connected() as connection:
            own_version = _major(connection)
        if int(version) > int(own_version):
            raise DomainError(
                "backup_of_newer_postgresql",
                f"The backup is from PostgreSQL {version}, and this server has PostgreSQL {own_version}: "
                f"restore into version {version} or later.",
            )

    def mark_unfinished(self, backup_name: str) -> None:
        with self._connected() as connection:
            marker = sql.Identifier(MARKER)
            connection.execute(
                sql.SQL("CREATE TABLE IF NOT EXISTS {} (backup_name text NOT NULL)").format(marker)
            )
            connection.execute(sql.SQL("TRUNCATE {}").format(marker))
            connection.execute(sql.SQL("INSERT INTO {} VALUES (%s)").format(marker), [backup_name])

    def clear(self) -> None:
        with self._connected() as connection:
            for (name,) in connection.execute(_TABLES).fetchall():
                if name != MARKER:
                    connection.execute(sql.SQL("DROP TABLE {} CASCADE").format(sql.Identifier(name)))
            for (routine,) in connection.execute(_ROUTINES).fetchall():
                connection.execute(sql.SQL("DROP ROUTINE {} CASCADE").format(sql.SQL(routine)))

    def load(self, source: Path, *, backup_name: str, jobs: int) -> None:  # noqa: ARG002
        self.run(
            "pg_restore",
            "--format=directory",
            f"--jobs={jobs}",
            "--exit-on-error",
            "--no-owner",
            "--no-privileges",
            str(source),
            server_options=_RESTORE_OPTIONS,
        )
        with self._connected() as connection:
            connection.execute("ANALYZE")

    def finish(self) -> None:
        with self._connected() as connection:
            connection.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(MARKER)))

    def run(
        self, program: str, *arguments: str, pace: BackupPace = FULL_SPEED, server_options: str = ""
    ) -> None:
        """Run a program of PostgreSQL on this database, without showing the password in the list of processes."""
        executable = shutil.which(program)
        if executable is None:
            raise DomainError(
                "postgresql_client_missing",
                f"{program} is not installed: install PostgreSQL’s client, such as the package postgresql-client.",
            )
        secret = {"PGPASSWORD": self.password} if self.password else {}
        options = {"PGOPTIONS": server_options} if server_options else {}
        with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
            code = pace.run(
                [executable, *arguments, f"--dbname={self.address}"],
                env={**os.environ, **secret, **options},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=output,
            )
            output.seek(0)
            errors = output.read()
        if code:
            lines = [line for line in errors.splitlines() if line.strip()] or ["no reason given"]
            mismatch = next((line for line in lines if "server version" in line), "")
            raise DomainError(f"{program}_failed", f"{program} failed: {(mismatch or lines[0])[:300]}")

    @contextmanager
    def _connected(self) -> Iterator["psycopg.Connection[Any]"]:
        try:
            connection = psycopg.connect(self.address, password=self.password or None, autocommit=True)
        except psycopg.OperationalError as error:
            reason = str(error).strip().splitlines()[0]
            raise DomainError(
                "database_away", f"The database {self.name} does not answer: {reason}"
            ) from None
        with connection:
            connection.execute(_SESSION)
            yield connection


def _major(connection: "psycopg.Connection[Any]") -> str:
    return str(connection.info.server_version // 10_000)
