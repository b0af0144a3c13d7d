"""Writing a backup while people label; docs/develop/decisions/0032-backups.md explains the order of steps."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from foundation.errors import Conflict, DomainError
from jobs.progress.reporter import Progress, Unwatched
from operations.backups import files, keys
from operations.backups.databases.base import Database, DatabaseView
from operations.backups.databases.connection import current_database
from operations.backups.files import CopiedFiles
from operations.backups.folder import BackupFolder, sha256_of
from operations.backups.manifest import (
    DATABASE,
    FORMAT,
    INDEX,
    MANIFEST,
    SIGNATURE,
    BackupPart,
    Manifest,
    parse,
)
from operations.backups.pace import BESIDE_PEOPLE, BackupPace

KEPT = 7


@dataclass(frozen=True)
class BackupReport:
    """The result of a backup, which contains everything acknowledged before its moment."""

    backup_name: str
    manifest: Manifest
    new_files: int
    new_bytes: int
    interrupted: bool  # whether the remains of an interrupted backup were removed
    removed: tuple[str, ...]  # names of earlier backups


def backup(
    *,
    folder: Path,
    keep: int = KEPT,
    jobs: int = 1,
    pace: BackupPace = BESIDE_PEOPLE,
    progress: Progress | None = None,
) -> BackupReport:
    """Add a backup to a folder and keep the latest `keep`. A kill at any point leaves earlier backups intact."""
    progress = progress or Unwatched()
    if keep < 1:
        raise DomainError("keep_none", "Keep at least 1 backup (--keep).")
    _require_outside(folder)
    database = current_database()
    unfinished = database.unfinished_restore()
    if unfinished:
        raise Conflict(
            "restore_unfinished",
            f"A restore of {unfinished} into this server was interrupted: finish that restore first.",
        )
    backups = BackupFolder(folder)
    backups.prepare()
    with backups.locked(exclusive=True):
        earlier = _earlier_files(backups)
        interrupted = backups.clear_unfinished()
        copied, manifest = _write(backups, earlier, database, jobs=jobs, pace=pace, progress=progress)
        backup_name = _name(manifest.moment)
        backups.complete(backup_name)
        removed = backups.retain(keep)
    return BackupReport(backup_name, manifest, copied.new, copied.new_bytes, interrupted, tuple(removed))


def _write(
    backups: BackupFolder,
    earlier: CopiedFiles,
    database: Database,
    *,
    jobs: int,
    pace: BackupPace,
    progress: Progress,
) -> tuple[CopiedFiles, Manifest]:
    draft = backups.draft()
    copied = CopiedFiles()
    # Copy most files before the moment, so that few can be removed between it and their copy.
    progress.step("Copying files")
    files.copy_new(backups, copied, earlier=earlier, progress=progress)
    # This machine's time before the view begins: the view contains everything acknowledged by then.
    moment = datetime.now(UTC)
    with database.view(pace) as view:
        # A file is stored before the row that names it, so now there is each that the view names.
        progress.step("Copying new files")
        files.copy_new(backups, copied, earlier=earlier, progress=progress)
        progress.step("Dumping the database")
        progress.start()
        view.dump(draft / DATABASE, jobs=jobs)
        files.write_index(draft / INDEX, copied.by_name.values())
        manifest = _manifest(draft, view, database, copied, moment)
    content = manifest.model_dump_json(indent=1).encode()
    (draft / SIGNATURE).write_text(keys.sign(content), encoding="ascii")
    (draft / MANIFEST).write_bytes(content)
    return copied, manifest


def _manifest(
    draft: Path, view: DatabaseView, database: Database, copied: CopiedFiles, moment: datetime
) -> Manifest:
    parts = [draft / INDEX, *sorted((draft / DATABASE).iterdir())]
    return Manifest(
        format=FORMAT,
        moment=moment,
        engine=database.engine,
        engine_version=view.version,
        migrations=dict(view.migrations()),
        tables=dict(view.tables()),
        parts=list(_described(draft, parts)),
        files=len(copied.by_name),
        file_bytes=copied.size,
        keys=keys.fingerprints(),
    )


def _described(draft: Path, parts: Iterable[Path]) -> Iterable[BackupPart]:
    for path in parts:
        path.chmod(0o600)
        with path.open("rb") as part:
            name = path.relative_to(draft).as_posix()
            yield BackupPart(name=name, size=path.stat().st_size, sha256=sha256_of(part))


def _earlier_files(backups: BackupFolder) -> CopiedFiles:
    """Return the files of the latest backup; refuse a folder with backups of another server."""
    earlier = CopiedFiles()
    names = backups.names()
    if not names:
        return earlier
    manifest = parse(backups.manifest_and_signature(names[-1])[0], backup_name=names[-1])
    if not set(manifest.keys) & set(keys.fingerprints()):
        raise Conflict(
            "backup_folder_of_other_server",
            f"{backups.path} contains backups made with another SECRET_KEY: choose another folder for this server’s "
            f"backups.",
        )
    earlier.by_name = {file.name: file for file in backups.index(names[-1])}
    return earlier


def _require_outside(folder: Path) -> None:
    media = files.local_folder()
    if media is None:
        return
    media, place = media.resolve(), folder.resolve()
    if place.is_relative_to(media) or media.is_relative_to(place):
        raise Conflict(
            "backup_inside_files",
            f"{folder} is inside {media} or contains it: choose another folder for backups.",
        )


def _name(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H%M%S}.{moment.microsecond // 1000:03d}Z"
