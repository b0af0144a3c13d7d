"""The folder of backups: a folder for each backup, and files by hash that all backups share.

    FOLDER/README.txt
    FOLDER/files/ab/ab12…                   a file, named by its SHA-256
    FOLDER/backups/2026-11-23T171500.123Z/
        manifest.json, signature            written last
        files.jsonl                         names and hashes of files
        database/                           the dump
    FOLDER/backups/unfinished/              a backup in progress, or left by a killed one

The contents are untrusted: links are not followed, and no path is built from text in a backup.
"""

import fcntl
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from foundation.errors import Conflict, DomainError, NotFound
from operations.backups.manifest import INDEX, MANIFEST, MOST_BYTES, SIGNATURE, BackedUpFile, damaged

UNFINISHED = "unfinished"
_BACKUP_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d{6}\.\d{3}Z")
_REMOVED = "removed-"
_AT_ONCE = 1024 * 1024
_LONGEST_LINE = 4096
_README = """\
Backups of a Stereoscope server. To restore a backup, use a server of the same version or a later one, with an empty
database, an empty file store and the same SECRET_KEY (which is not in this folder). Run there:

    python manage.py restore {folder}

For details, see docs/operate/backup.md. Do not change or rename anything in this folder.
"""


class BackupFolder:
    """A folder of backups on a disk."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.backups_path = self.path / "backups"
        self.files_path = self.path / "files"

    def prepare(self) -> None:
        """Create the folder, for its owner only. Raises Conflict if it has other contents."""
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self.backups_path.is_dir():
            others = [entry.name for entry in self.path.iterdir() if entry.name != "lost+found"]
            if others:
                raise Conflict(
                    "backup_folder_used",
                    f"{self.path} contains other files, such as {others[0]}: give backups a separate folder.",
                )
        for folder in (self.files_path, self.backups_path):
            folder.mkdir(exist_ok=True, mode=0o700)
        (self.path / "README.txt").write_text(_README.format(folder=self.path), encoding="utf-8")

    @contextmanager
    def locked(self, *, exclusive: bool) -> Iterator[None]:
        """Lock the folder against writers and, if `exclusive`, readers. A lock ends with its process."""
        if not self.backups_path.is_dir():
            raise NotFound("backup_not_found", f"{self.path} is not a folder of backups: check the path.")
        descriptor = os.open(self.backups_path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise Conflict(
                "backup_folder_busy",
                f"Another backup or restore is using {self.path}. Try again when the other backup or restore "
                "has ended.",
            ) from None
        finally:
            os.close(descriptor)

    def names(self) -> list[str]:
        """Return the names of the complete backups, the oldest first."""
        names = (entry.name for entry in os.scandir(self.backups_path) if entry.is_dir(follow_symlinks=False))
        return sorted(
            name
            for name in names
            if _BACKUP_NAME.fullmatch(name) and os.path.lexists(self.backups_path / name / MANIFEST)
        )

    def choose(self, backup_name: str) -> str:
        """Return the name of the given backup, or of the latest; raise NotFound if there is none."""
        complete = self.names()
        if backup_name:
            if backup_name not in complete:
                raise NotFound(
                    "backup_not_found",
                    f"There is no backup {backup_name[:60]} in {self.path}; there are "
                    f"{', '.join(complete) or 'none'}.",
                )
            return backup_name
        if complete:
            return complete[-1]
        interrupted = (self.backups_path / UNFINISHED).exists()
        reason = "the only backup was interrupted before it was complete; " if interrupted else ""
        raise NotFound(
            "backup_not_found", f"There is no complete backup in {self.path}: {reason}run “backup” again."
        )

    def clear_unfinished(self) -> bool:
        """Remove the remains of interrupted backups and removals; return whether a backup was interrupted."""
        for entry in self.backups_path.iterdir():
            if entry.name.startswith(_REMOVED):
                shutil.rmtree(entry)
        for part in self.files_path.glob("*.part"):
            part.unlink()
        draft = self.backups_path / UNFINISHED
        interrupted = draft.exists()
        if interrupted:
            shutil.rmtree(draft)
        return interrupted

    def draft(self) -> Path:
        """Create and return an empty folder for a new backup."""
        draft = self.backups_path / UNFINISHED
        draft.mkdir(mode=0o700)
        return draft

    def complete(self, backup_name: str) -> None:
        """Rename the draft to a complete backup after all data are on the disk."""
        os.sync()
        (self.backups_path / UNFINISHED).rename(self.backups_path / backup_name)
        _sync_folder(self.backups_path)

    def retain(self, number: int) -> list[str]:
        """Remove all but the latest backups and files used only by them; return the names of removed backups."""
        removed = self.names()[:-number]
        for name in removed:
            # Rename first, so that a killed removal leaves no folder that looks complete.
            self.backups_path.joinpath(name).rename(self.backups_path / f"{_REMOVED}{name}")
            shutil.rmtree(self.backups_path / f"{_REMOVED}{name}")
        needed = self.needed_hashes()
        for path in self.files_path.glob("*/*"):
            if path.name not in needed:
                path.unlink()
        return removed

    def needed_hashes(self) -> set[str]:
        """Return the hashes of all files of complete backups."""
        return {file.sha256 for name in self.names() for file in self.index(name)}

    def blob(self, sha256: str) -> Path:
        """Return the path of the file with this hash."""
        return self.files_path / sha256[:2] / sha256

    def part(self, backup_name: str, name: str) -> Path:
        """Return the path of a file of a backup."""
        return self.backups_path / backup_name / name

    def manifest_and_signature(self, backup_name: str) -> tuple[bytes, str]:
        """Return the unparsed manifest and its signature."""
        pieces = []
        for name in (MANIFEST, SIGNATURE):
            with opened(self.part(backup_name, name), backup_name=backup_name) as file:
                pieces.append(file.read(MOST_BYTES + 1))
        if len(pieces[0]) > MOST_BYTES:
            raise damaged(backup_name, f"{MANIFEST} is larger than a manifest can be")
        return pieces[0], pieces[1][:200].decode("ascii", "replace").strip()

    def index(self, backup_name: str) -> Iterator[BackedUpFile]:
        """Yield the files of a backup."""
        with opened(self.part(backup_name, INDEX), backup_name=backup_name) as lines:
            while line := lines.readline(_LONGEST_LINE + 1):
                try:
                    yield BackedUpFile.model_validate_json(line)
                except ValueError:
                    raise damaged(backup_name, f"{INDEX} contains an invalid line") from None


@contextmanager
def opened(path: Path, *, backup_name: str) -> Iterator[BinaryIO]:
    """Open a file of a backup; raise DomainError unless it is a regular file without links in its path."""
    try:
        for folder in (path.parent, path.parent.parent):
            if not stat.S_ISDIR(folder.lstat().st_mode):
                raise damaged(backup_name, f"{folder.name} is a link")
        # A pipe would wait for ever without O_NONBLOCK.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise damaged(backup_name, f"{path.name} is missing") from None
    except DomainError:
        raise
    except OSError as error:
        raise damaged(backup_name, f"{path.name} cannot be read ({error.strerror})") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise damaged(backup_name, f"{path.name} is not a regular file")
        yield file


def sha256_of(file: BinaryIO) -> str:
    """Return the SHA-256 of a file, read in pieces."""
    digest = hashlib.sha256()
    while piece := file.read(_AT_ONCE):
        digest.update(piece)
    return digest.hexdigest()


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
