"""Backup and restore of the server's files, each stored once under its hash."""

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

from django.core.files.base import File
from django.core.files.storage import default_storage, storages
from pydantic import ValidationError

from foundation.errors import Conflict, DomainError
from foundation.storage import ObjectStorage
from generation.images.reencode import CACHE_FOLDER
from jobs.progress.reporter import Progress
from operations.backups.folder import BackupFolder, opened, sha256_of
from operations.backups.manifest import INDEX, BackedUpFile, damaged

# Cached copies, which are recreated from the images when needed.
_NOT_KEPT = f"{CACHE_FOLDER}/"
# Remote storage is faster with parallel requests; a local disk gains little.
_AT_ONCE = 4
_BATCH = 200
_PIECE = 1024 * 1024

Item = TypeVar("Item")
Result = TypeVar("Result")


class StorageEntry(NamedTuple):
    """A file in the listing of the storage; `version` changes with the content."""

    name: str
    size: int
    version: str


@dataclass
class CopiedFiles:
    """The files copied to a backup so far."""

    by_name: dict[str, BackedUpFile] = field(default_factory=dict)
    new: int = 0  # number of files in no earlier backup
    new_bytes: int = 0

    @property
    def size(self) -> int:
        return sum(file.size for file in self.by_name.values())


def stored_entries() -> Iterator[StorageEntry]:
    """Yield all files of the server that belong in a backup."""
    storage = storages["default"]
    entries = storage.entries() if isinstance(storage, ObjectStorage) else _local_entries()
    for name, size, version in entries:
        if not name.startswith(_NOT_KEPT):
            yield StorageEntry(name, size, version)


def local_folder() -> Path | None:
    """Return the folder with the stored files, or None if they are in a bucket."""
    return None if isinstance(storages["default"], ObjectStorage) else Path(default_storage.path(""))


def require_empty() -> None:
    """Raise Conflict if the storage is not empty."""
    entry = next(stored_entries(), None)
    if entry is not None:
        raise Conflict(
            "storage_not_empty",
            f"The file store already contains files, such as {entry.name}: restore needs an empty file "
            f"store (MEDIA_ROOT, or FILES_BUCKET with FILES_PREFIX).",
        )


def copy_new(folder: BackupFolder, copied: CopiedFiles, *, earlier: CopiedFiles, progress: Progress) -> None:
    """Copy files that are not yet in the backup; skip files that are removed meanwhile."""
    entries = [entry for entry in stored_entries() if not _is_same(entry, copied.by_name.get(entry.name))]
    trusted = {file.sha256 for file in earlier.by_name.values()}
    progress.start(len(entries))

    def copy(entry: StorageEntry) -> tuple[BackedUpFile, bool] | None:
        before = earlier.by_name.get(entry.name)
        if before is not None and _is_same(entry, before) and _blob_size(folder, before) == before.size:
            return before, False
        return _copy(folder, entry, trusted)

    for batch_result in _in_threads(copy, entries):
        progress.check_cancelled()
        progress.advance()
        if batch_result is not None:
            file, is_new = batch_result
            copied.by_name[file.name] = file
            copied.new += is_new
            copied.new_bytes += file.size if is_new else 0


def write_index(path: Path, files: Iterable[BackedUpFile]) -> None:
    """Write the index of the files in a backup, sorted by name."""
    with path.open("w", encoding="utf-8") as index:
        for file in sorted(files, key=lambda file: file.name):
            index.write(f"{file.model_dump_json()}\n")


def check_all(
    folder: BackupFolder, backup_name: str, files: Sequence[BackedUpFile], progress: Progress
) -> None:
    """Read every file of a backup; raise DomainError at the first that is missing or does not match its hash."""
    by_hash = {file.sha256: file for file in files}
    progress.step("Checking files")
    progress.start(len(by_hash))

    def check(file: BackedUpFile) -> None:
        with opened(folder.blob(file.sha256), backup_name=backup_name) as blob:
            if os.fstat(blob.fileno()).st_size != file.size or sha256_of(blob) != file.sha256:
                raise damaged(backup_name, f"the file {file.name} has changed since it was copied")

    for _ in _in_threads(check, list(by_hash.values())):
        progress.advance()


def put_back(
    folder: BackupFolder, backup_name: str, files: Sequence[BackedUpFile], progress: Progress
) -> None:
    """Write every file of a backup into the server's storage."""
    progress.step("Restoring files")
    progress.start(len(files))

    def put(file: BackedUpFile) -> None:
        with opened(folder.blob(file.sha256), backup_name=backup_name) as blob:
            saved_name = default_storage.save(file.name, File(blob))
        if saved_name != file.name:
            default_storage.delete(saved_name)
            raise Conflict(
                "storage_not_empty",
                f"Another program wrote {file.name} into the file store: stop that program first.",
            )

    for _ in _in_threads(put, files):
        progress.advance()


def remove_all() -> None:
    """Delete all files in the storage, which an interrupted restore wrote."""
    for _ in _in_threads(lambda entry: default_storage.delete(entry.name), list(stored_entries())):
        pass


def require_index(folder: BackupFolder, backup_name: str) -> list[BackedUpFile]:
    """Return the files of a backup; raise DomainError if a name occurs twice."""
    files = list(folder.index(backup_name))
    if len({file.name for file in files}) != len(files):
        raise damaged(backup_name, f"{INDEX} names a file twice")
    return files


def require_room(path: Path, needed_bytes: int) -> None:
    """Raise DomainError if the disk of a folder, which need not exist yet, has too little free space."""
    place = path
    while not place.exists():
        place = place.parent
    free_bytes = shutil.disk_usage(place).free
    if needed_bytes > free_bytes:
        raise DomainError(
            "no_room",
            f"{path} needs {needed_bytes:,} bytes, and {free_bytes:,} are free: free some space first.",
        )


def _local_entries() -> Iterator[StorageEntry]:
    root = Path(default_storage.path(""))
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            try:
                status = path.lstat()
            except FileNotFoundError:
                continue
            version = f"{status.st_mtime_ns}:{status.st_ino}"
            yield StorageEntry(path.relative_to(root).as_posix(), status.st_size, version)


def _is_same(entry: StorageEntry, file: BackedUpFile | None) -> bool:
    return file is not None and (file.size, file.version) == (entry.size, entry.version)


def _blob_size(folder: BackupFolder, file: BackedUpFile) -> int:
    try:
        return folder.blob(file.sha256).lstat().st_size
    except FileNotFoundError:
        return -1


def _copy(folder: BackupFolder, entry: StorageEntry, trusted: set[str]) -> tuple[BackedUpFile, bool] | None:
    draft = folder.files_path / f"{os.getpid()}-{hashlib.sha256(entry.name.encode()).hexdigest()}.part"
    try:
        with default_storage.open(entry.name) as source, draft.open("wb") as target:
            digest, size = hashlib.sha256(), 0
            while piece := source.read(_PIECE):
                digest.update(piece)
                size += len(piece)
                target.write(piece)
    except FileNotFoundError:
        draft.unlink(missing_ok=True)
        return None
    except OSError as error:
        draft.unlink(missing_ok=True)
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise DomainError(
                "no_room", f"{folder.path} is full: free some space, or keep fewer backups (--keep)."
            ) from error
        raise
    try:
        file = BackedUpFile(name=entry.name, size=size, sha256=digest.hexdigest(), version=entry.version)
    except ValidationError:
        draft.unlink()
        raise DomainError(
            "file_name_unusual",
            f"The file store contains {entry.name[:200]!r}, which Stereoscope did not write: remove that file first.",
        ) from None
    blob = folder.blob(file.sha256)
    # A loss of power may have truncated a file that no complete backup names, so it is written again.
    if file.sha256 in trusted and _blob_size(folder, file) == size:
        draft.unlink()
        return file, False
    blob.parent.mkdir(exist_ok=True, mode=0o700)
    draft.rename(blob)
    return file, True


def _in_threads(work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """Yield `work(item)` for each item, in order; after an error, no further batch begins."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for start in range(0, len(items), _BATCH):
            yield from pool.map(work, items[start : start + _BATCH])
