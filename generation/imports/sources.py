"""Sources of files to import: folders and zip archives, never read outside themselves."""

import re
import stat
import zipfile
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

from django.conf import settings

from foundation.errors import DomainError
from foundation.tables.workbooks import ZIP_DAMAGE

_MOST_FILES = 500_000
_MOST_COMPRESSED = 200  # deflate reaches 1000:1 only for identical bytes
_SMALL = 1024 * 1024


class Source(Protocol):
    """Files by name; names have forward slashes."""

    def names(self) -> list[str]:
        """Return the sorted names of all files that are not hidden."""

    def read(self, name: str, *, limit: int, subject: str) -> bytes:
        """Return a file of at most `limit` bytes; raise DomainError if it is larger, missing or outside."""


class FolderSource:
    """A folder on the server."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._root = folder.resolve()

    def names(self) -> list[str]:
        names = (
            path.relative_to(self._folder).as_posix() for path in self._folder.rglob("*") if path.is_file()
        )
        return sorted(name for name in names if not is_hidden(name))

    def read(self, name: str, *, limit: int, subject: str) -> bytes:
        try:
            path = (self._folder / name).resolve()
            if not path.is_relative_to(self._root):
                raise outside(subject)
            if not path.is_file():
                raise DomainError("file_missing", f"{subject} does not exist.")
            if path.stat().st_size > limit:
                raise too_large(subject, limit)
            return path.read_bytes()
        except (
            OSError,
            ValueError,
            RuntimeError,
        ) as error:  # a name with NUL or too long, or a loop of links
            reason = getattr(error, "strerror", None) or "the name is not a valid file name"
            raise DomainError("file_not_readable", f"{subject} cannot be read: {reason}.") from None


class ZipSource:
    """A zip archive, whose members are checked before any is read."""

    def __init__(self, file: Path | IO[bytes]) -> None:
        try:
            self._archive = zipfile.ZipFile(file)
        except ZIP_DAMAGE:
            raise DomainError("not_an_archive", "The file is not a zip archive, or it is damaged.") from None
        members = [member for member in self._archive.infolist() if not member.is_dir()]
        if len(members) > _MOST_FILES:
            raise DomainError("archive_too_many", f"The archive contains more than {_MOST_FILES:,} files.")
        for member in members:
            _check_member(member)
        _check_total(sum(member.file_size for member in members))
        self._members = {member.filename.removeprefix("./"): member for member in members}
        self._read = 0

    def names(self) -> list[str]:
        return sorted(name for name in self._members if not is_hidden(name))

    def read(self, name: str, *, limit: int, subject: str) -> bytes:
        member = self._members.get(name)
        if member is None:
            raise DomainError("file_missing", f"{subject} is not in the archive.")
        try:
            with self._archive.open(member) as file:
                # Read one byte more than allowed, because the declared size may be false.
                data = file.read(limit + 1)
        except ZIP_DAMAGE:
            raise DomainError(
                "archive_damaged", f"{subject} cannot be read, because this part of the archive is damaged."
            ) from None
        if len(data) > limit:
            raise too_large(subject, limit)
        self._read += len(data)
        _check_total(self._read)
        return data


def is_hidden(name: str) -> bool:
    """Return whether a file is hidden or made by an operating system (`.DS_Store`, `__MACOSX/…`)."""
    parts = PurePosixPath(name).parts
    return any(part.startswith(".") or part == "__MACOSX" for part in parts) or parts[-1].lower() in {
        "thumbs.db",
        "desktop.ini",
    }


def is_outside(name: str) -> bool:
    """Return whether a name leads out of its folder."""
    plain = name.replace("\\", "/")
    return plain.startswith("/") or re.match(r"^[A-Za-z]:", plain) is not None or ".." in plain.split("/")


def outside(subject: str) -> DomainError:
    return DomainError("path_outside", f"{subject} is outside the folder or archive that is imported.")


def too_large(subject: str, limit: int) -> DomainError:
    return DomainError(
        "image_too_large", f"{subject} is larger than the limit of {limit / 1024 / 1024:g} MiB."
    )


def _check_member(member: zipfile.ZipInfo) -> None:
    name = member.filename
    if is_outside(name) or "\0" in name:
        raise outside(f"“{name}”")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise DomainError("archive_link", f"“{name}” is a symbolic link; archives with links are not opened.")
    if member.flag_bits & 1:
        raise DomainError("archive_encrypted", f"“{name}” is encrypted; pack the archive without a password.")
    if member.file_size > _SMALL and member.file_size > _MOST_COMPRESSED * max(member.compress_size, 1):
        raise DomainError(
            "archive_bomb",
            f"“{name}” is compressed too much: it would unpack to {member.file_size / 1024 / 1024:,.0f} MiB.",
        )


def _check_total(total: int) -> None:
    if total > settings.ARCHIVE_MAX_BYTES:
        limit = settings.ARCHIVE_MAX_BYTES / 1024 / 1024
        raise DomainError(
            "archive_too_large", f"The archive unpacks to more than the limit of {limit:,.0f} MiB."
        )
