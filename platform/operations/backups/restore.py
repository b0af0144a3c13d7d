"""Restoring a backup; nothing is written before the whole backup has been checked."""

from dataclasses import dataclass, replace
from pathlib import Path

from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import connection, transaction

from annotation.people import letters
from annotation.recruitment.payments.send import hold_restored
from annotation.watch import notices
from foundation.errors import Conflict
from jobs.progress.reporter import Progress, Unwatched
from jobs.run import recovery
from operations.backups import files, keys
from operations.backups.databases import migrations
from operations.backups.databases.base import Database
from operations.backups.databases.connection import current_database
from operations.backups.folder import BackupFolder, opened, sha256_of
from operations.backups.manifest import DATABASE, INDEX, BackedUpFile, Manifest, damaged, parse
from privacy.erasure.erase import erase_again


@dataclass(frozen=True)
class RestoreReport:
    """The result of a restore, and of the steps that let the server continue."""

    backup_name: str
    manifest: Manifest
    sessions_ended: int
    jobs_queued: int
    letters_cancelled: int
    letters_held: int  # letters with personal links, which leads may send again
    bonuses_held: int
    people_erased: int = 0
    people_not_erased: int = 0  # because a panel still has to pay them


def restore(
    *,
    folder: Path,
    backup_name: str = "",
    again: bool = False,
    jobs: int = 2,
    progress: Progress | None = None,
) -> RestoreReport:
    """Restore a backup, by default the latest, into an empty database and an empty file store.

    `again` removes everything that an interrupted restore wrote and starts again.
    """
    progress = progress or Unwatched()
    backups = BackupFolder(folder)
    with backups.locked(exclusive=False):
        backup_name = backups.choose(backup_name)
        manifest = check_manifest(backups, backup_name)
        database = current_database()
        if manifest.engine != database.engine:
            raise Conflict(
                "backup_of_other_engine",
                f"Backup {backup_name} contains a {manifest.engine} database, but DATABASE_URL names a "
                f"{database.engine} database: restore the backup into a {manifest.engine} database.",
            )
        database.check_version(manifest.engine_version)
        _require_room(manifest)
        _require_place(database, again=again)
        stored = check_content(backups, backup_name, manifest, progress)
        database.mark_unfinished(backup_name)
        if again:
            database.clear()
            files.remove_all()
        files.put_back(backups, backup_name, stored, progress)
        progress.step("Restoring the database")
        progress.start()
        database.load(backups.part(backup_name, DATABASE), backup_name=backup_name, jobs=jobs)
        compare(database, manifest, backup_name)
        call_command("migrate", interactive=False, verbosity=0)
        report = _settle(backup_name, manifest)
        people_erased, people_not_erased = erase_again()
        report = replace(report, people_erased=people_erased, people_not_erased=people_not_erased)
        connection.close()
        database.finish()
    return report


def check_manifest(backups: BackupFolder, backup_name: str) -> Manifest:
    """Return the manifest of a backup; raise DomainError for another key or a newer version."""
    content, signature = backups.manifest_and_signature(backup_name)
    manifest = parse(content, backup_name=backup_name)
    keys.check(manifest, content, signature, backup_name=backup_name)
    migrations.check(manifest.migrations, backup_name=backup_name)
    return manifest


def check_content(
    backups: BackupFolder, backup_name: str, manifest: Manifest, progress: Progress
) -> list[BackedUpFile]:
    """Check all data of a backup and return its files; raise DomainError if it was changed. Write nothing."""
    for part in manifest.parts:
        with opened(backups.part(backup_name, part.name), backup_name=backup_name) as file:
            if (
                backups.part(backup_name, part.name).lstat().st_size != part.size
                or sha256_of(file) != part.sha256
            ):
                raise damaged(backup_name, f"{part.name} has changed since it was written")
    _require_parts(backups, manifest, backup_name)
    stored = files.require_index(backups, backup_name)
    if (len(stored), sum(file.size for file in stored)) != (manifest.files, manifest.file_bytes):
        raise damaged(backup_name, f"{INDEX} and the manifest name different files")
    files.check_all(backups, backup_name, stored, progress)
    return stored


def compare(database: Database, manifest: Manifest, backup_name: str) -> None:
    """Raise DomainError if the restored rows differ from those backed up."""
    with database.view() as view:
        tables = dict(view.tables())
    for name in sorted(tables.keys() | manifest.tables.keys()):
        before, after = manifest.tables.get(name), tables.get(name)
        if before != after:
            counts = (
                f"{before.rows if before else 0:,} rows backed up, {after.rows if after else 0:,} restored"
            )
            raise damaged(backup_name, f"the rows of {name} differ from those backed up ({counts})")


def _require_parts(backups: BackupFolder, manifest: Manifest, backup_name: str) -> None:
    """Refuse a dump with a file not in the manifest, which the database's programs might read."""
    names = {part.name for part in manifest.parts}
    for path in backups.part(backup_name, DATABASE).iterdir():
        if f"{DATABASE}/{path.name}" not in names:
            raise damaged(backup_name, f"{path.name[:100]} was not part of the backup")
    if INDEX not in names:
        raise damaged(backup_name, f"its manifest does not name {INDEX}")


def _require_room(manifest: Manifest) -> None:
    media = files.local_folder()
    if media is not None:
        files.require_room(media, manifest.file_bytes)
    if manifest.engine == "sqlite":
        size = sum(part.size for part in manifest.parts)
        files.require_room(Path(str(connection.settings_dict["NAME"])).parent, size)


def _require_place(database: Database, *, again: bool) -> None:
    unfinished = database.unfinished_restore()
    if unfinished and not again:
        raise Conflict(
            "restore_unfinished",
            f"A restore of {unfinished} into this database was interrupted: run the same command with --again, "
            f"which removes what was restored and starts again.",
        )
    if again and not unfinished:
        raise Conflict(
            "nothing_unfinished", "No restore into this database was interrupted: leave out --again."
        )
    if not unfinished:
        database.require_empty()
        files.require_empty()


@transaction.atomic
def _settle(backup_name: str, manifest: Manifest) -> RestoreReport:
    """End sessions, queue running jobs again, and cancel or hold letters and bonuses, so that none is sent twice."""
    sessions, _ = Session.objects.all().delete()
    cancelled = notices.cancel_letters(reason=f"Cancelled when the backup {backup_name} was restored.")
    queued = recovery.requeue_restored(reason=f"Queued again when the backup {backup_name} was restored.")
    return RestoreReport(
        backup_name,
        manifest,
        sessions_ended=sessions,
        jobs_queued=queued,
        letters_cancelled=cancelled,
        letters_held=letters.hold_restored(),
        bonuses_held=hold_restored(),
    )
