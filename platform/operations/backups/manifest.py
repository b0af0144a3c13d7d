"""The manifest of a backup: its moment, its parts with digests, the rows of each table."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from foundation.errors import DomainError

FORMAT = 1
MANIFEST, SIGNATURE, INDEX, DATABASE = "manifest.json", "signature", "files.jsonl", "database"
MOST_BYTES = 16 * 1024 * 1024  # limit of a manifest, which usually has a thousandth of it
_SHA256 = r"^[0-9a-f]{64}$"
_PART = rf"^(?:{INDEX}|{DATABASE}/[A-Za-z0-9_][A-Za-z0-9_.-]{{0,99}})$"
# The characters used in names in storage; no empty, hidden or parent folders.
_NAME = r"^(?:[\w@%+=,~ -][\w@%+=,~ .-]*/)*[\w@%+=,~ -][\w@%+=,~ .-]*$"


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class BackupPart(_Strict):
    """A file of a backup."""

    name: str = Field(pattern=_PART)
    size: int = Field(ge=0)
    sha256: str = Field(pattern=_SHA256)


class BackedUpFile(_Strict):
    """A line of the index: a file of the server, stored in the backup under its hash.

    While `version`, reported by the storage, is the same, the file need not be read again.
    """

    name: str = Field(pattern=_NAME, max_length=500)
    size: int = Field(ge=0)
    sha256: str = Field(pattern=_SHA256)
    version: str = Field(max_length=200)


class TableContent(_Strict):
    """The number of rows of a table, and a digest independent of their order."""

    rows: int = Field(ge=0)
    digest: str = Field(max_length=40)


class Manifest(_Strict):
    """The description of a backup, which contains everything acknowledged before its moment."""

    format: int
    moment: datetime = Field(strict=False)
    engine: Literal["sqlite", "postgresql"]
    engine_version: str = Field(max_length=40)
    migrations: dict[str, list[str]]
    tables: dict[str, TableContent]
    parts: list[BackupPart]
    files: int = Field(ge=0)
    file_bytes: int = Field(ge=0)
    keys: list[str] = Field(min_length=1)  # fingerprints; the first one signed the manifest

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables.values())


def parse(data: bytes, *, backup_name: str) -> Manifest:
    """Parse a manifest; raise DomainError if it is damaged or of a later format."""
    try:
        header = _Format.model_validate_json(data)
        if header.format > FORMAT:
            raise DomainError(
                "backup_newer",
                f"Backup {backup_name} was written by a newer version of this software; update the software first.",
            )
        return Manifest.model_validate_json(data)
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"])) or "its first character"
        raise damaged(backup_name, f"{MANIFEST} cannot be read ({place})") from None


def damaged(backup_name: str, reason: str) -> DomainError:
    """Return the error for a backup that was changed after it was written."""
    return DomainError("backup_damaged", f"Backup {backup_name} is damaged: {reason}. Use another backup.")


class _Format(BaseModel):
    format: int
