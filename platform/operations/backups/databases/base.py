"""The interface of both kinds of database for backup and restore."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, Protocol

from operations.backups.manifest import TableContent
from operations.backups.pace import FULL_SPEED, BackupPace

# A table created before a restore and dropped at its end; while it exists, the database must not be used.
MARKER = "restore_unfinished"


class DatabaseView(Protocol):
    """A view of the database at one moment, even if rows are written meanwhile."""

    version: str

    def dump(self, target: Path, *, jobs: int) -> None: ...

    def migrations(self) -> Mapping[str, list[str]]: ...

    def tables(self) -> Iterator[tuple[str, TableContent]]: ...


class Database(Protocol):
    """The database in the settings."""

    engine: Literal["sqlite", "postgresql"]

    def view(self, pace: BackupPace = FULL_SPEED) -> AbstractContextManager[DatabaseView]: ...

    def unfinished_restore(self) -> str:
        """Return the name of the backup whose restore into this database was interrupted, or ""."""
        ...

    def require_empty(self) -> None: ...

    def check_version(self, version: str) -> None:
        """Raise DomainError if the dump is from a later version of the database server."""
        ...

    def mark_unfinished(self, backup_name: str) -> None: ...

    def clear(self) -> None:
        """Remove everything that an interrupted restore wrote, except the mark."""
        ...

    def load(self, source: Path, *, backup_name: str, jobs: int) -> None: ...

    def finish(self) -> None:
        """Remove the mark."""
        ...
