"""What both kinds of database offer to backup and restore."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, Protocol

from operations.backups.manifest import TableContent
from operations.backups.pace import FULL_SPEED, BackupPace

# Made before anything else is restored, dropped at the end: while it is there, the database is not to be used.
MARKER = "restore_unfinished"


class DatabaseView(Protocol):
    """The database at one moment, even if rows are written meanwhile."""

    version: str

    def dump(self, target: Path, *, jobs: int) -> None: ...

    def migrations(self) -> Mapping[str, list[str]]: ...

    def tables(self) -> Iterator[tuple[str, TableContent]]: ...


class Database(Protocol):
    """The database that the settings name."""

    engine: Literal["sqlite", "postgresql"]

    def view(self, pace: BackupPace = FULL_SPEED) -> AbstractContextManager[DatabaseView]: ...

    def unfinished_restore(self) -> str:
        """Return the backup of which a restore into this database was interrupted; "" where there was none."""
        ...

    def require_empty(self) -> None: ...

    def check_version(self, version: str) -> None:
        """Refuse a dump of a later database server than this one."""
        ...

    def mark_unfinished(self, backup_name: str) -> None: ...

    def clear(self) -> None:
        """Remove what an interrupted restore wrote; the mark stays."""
        ...

    def load(self, source: Path, *, backup_name: str, jobs: int) -> None: ...

    def finish(self) -> None:
        """Remove the mark."""
        ...
