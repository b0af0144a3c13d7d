"""SQLite: a copy of the file, made with the online backup API in one read transaction."""

import hashlib
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal

from foundation.errors import Conflict, DomainError, NotFound
from operations.backups.databases.base import MARKER
from operations.backups.databases.migrations import by_app
from operations.backups.manifest import TableContent
from operations.backups.pace import FULL_SPEED, BackupPace

_FILE = "stereoscope.sqlite3"
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name"
_MODULUS = 1 << 128


class _RowsDigest:
    """The sum of the hashes of rows, independent of their order."""

    def __init__(self) -> None:
        self.total = 0

    def step(self, *values: Any) -> None:
        row_hash = hashlib.blake2b(repr(values).encode("utf-8", "surrogatepass"), digest_size=16)
        self.total = (self.total + int.from_bytes(row_hash.digest(), "big")) % _MODULUS

    def finalize(self) -> str:
        return f"{self.total:032x}"


class SqliteView:
    """A read transaction; in WAL mode, it neither blocks writers nor sees their changes."""

    version = sqlite3.sqlite_version

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def dump(self, target: Path, *, jobs: int) -> None:  # noqa: ARG002 -- one file, one copy
        target.mkdir(mode=0o700)
        with closing(sqlite3.connect(target / _FILE)) as copy:
            copy.execute("PRAGMA synchronous=OFF")  # the whole backup is synchronised at its end
            self.connection.backup(copy)
            # One file instead of three, without WAL files.
            copy.execute("PRAGMA journal_mode=DELETE")

    def migrations(self) -> Mapping[str, list[str]]:
        return by_app(self.connection.execute("SELECT app, name FROM django_migrations").fetchall())

    def tables(self) -> Iterator[tuple[str, TableContent]]:
        names = [name for (name,) in self.connection.execute(_TABLES)]
        for name in names:
            if name != MARKER:
                yield name, self._content(name)

    def _content(self, name: str) -> TableContent:
        columns = self.connection.execute(f"PRAGMA table_info({_quoted(name)})").fetchall()
        listed = ", ".join(_quoted(column[1]) for column in columns)
        query = f"SELECT COUNT(*), rows_digest({listed}) FROM {_quoted(name)}"  # noqa: S608 -- quoted
        row_count, digest = self.connection.execute(query).fetchone()
        return TableContent(rows=row_count, digest=digest or "")  # NULL without rows


class SqliteDatabase:
    """The SQLite file in the settings."""

    engine: Literal["sqlite", "postgresql"] = "sqlite"

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def view(self, pace: BackupPace = FULL_SPEED) -> Iterator[SqliteView]:  # noqa: ARG002 -- nice holds it back
        if not self.path.exists():
            raise NotFound("database_missing", f"There is no database {self.path} (DATABASE_URL).")
        with self._connected() as connection:
            connection.create_aggregate("rows_digest", -1, _RowsDigest)  # type: ignore[arg-type]  # any number
            connection.execute("BEGIN")
            connection.execute(
                "SELECT COUNT(*) FROM sqlite_master"
            ).fetchone()  # the view begins with the first read
            yield SqliteView(connection)

    def unfinished_restore(self) -> str:
        if not self._has_content():
            return ""
        with self._connected() as connection:
            if (MARKER,) not in connection.execute(_TABLES).fetchall():
                return ""
            row = connection.execute(f"SELECT backup_name FROM {MARKER}").fetchone()  # noqa: S608 -- a constant
            return str(row[0]) if row else "unknown"

    def require_empty(self) -> None:
        if not self._has_content():
            return
        with self._connected() as connection:
            tables = connection.execute(_TABLES).fetchall()
        if tables:
            raise Conflict(
                "database_not_empty",
                f"The database {self.path} already has {len(tables)} tables: restore needs an empty "
                f"database. Name another file in DATABASE_URL, or move the file of this database away.",
            )

    def check_version(self, version: str) -> None:
        """Do nothing, because SQLite reads files of all its versions."""

    def mark_unfinished(self, backup_name: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._remove_file(self.path)
        _mark(self.path, backup_name)

    def clear(self) -> None:
        self._remove_file(self._loading)

    def load(self, source: Path, *, backup_name: str, jobs: int) -> None:  # noqa: ARG002
        self._remove_file(self._loading)
        try:
            with (
                closing(sqlite3.connect(f"file:{source / _FILE}?mode=ro&immutable=1", uri=True)) as dump,
                closing(sqlite3.connect(self._loading)) as target,
            ):
                dump.backup(target)
            _mark(self._loading, backup_name)
        except sqlite3.DatabaseError as error:
            raise DomainError(
                "restore_failed", f"SQLite refuses the database of the backup: {error}."
            ) from None
        os.replace(self._loading, self.path)

    def finish(self) -> None:
        with self._connected() as connection:
            connection.execute(f"DROP TABLE {MARKER}")
            # The journal mode of the platform, which is stored in the file.
            connection.execute("PRAGMA journal_mode=WAL")

    @property
    def _loading(self) -> Path:
        return self.path.with_name(f"{self.path.name}.restoring")

    def _has_content(self) -> bool:
        return self.path.exists() and self.path.stat().st_size > 0

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        address = f"{self.path.absolute().as_uri()}?mode=rw"
        with closing(sqlite3.connect(address, uri=True, isolation_level=None, timeout=30)) as connection:
            yield connection

    def _remove_file(self, path: Path) -> None:
        for suffix in ("", "-wal", "-shm", "-journal"):
            path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)


def _mark(path: Path, backup_name: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE {MARKER} (backup_name TEXT NOT NULL)")
        connection.execute(f"INSERT INTO {MARKER} VALUES (?)", [backup_name])  # noqa: S608 -- a constant


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
