"""The zips of releases in storage: saving, opening and removing them, and removing the files of killed builds."""

import secrets
import shutil
import time
from pathlib import Path

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from analysis.models import Release
from foundation.errors import Conflict, NotFound
from studies import audit
from studies.models import Study

_LEFT_BEHIND = 24 * 60 * 60  # seconds; no build takes this long
REMOVED = "files_removed"  # in a release's facts: the day on which its files were removed


def building_place() -> Path:
    """Return the folder in which zips are built."""
    place = _place()
    place.mkdir(parents=True, exist_ok=True)
    return place


def save(study: Study, *, version: int, archive: Path) -> str:
    """Store a zip under a unique name, or leave nothing in storage; return the name."""
    name = f"releases/{study.pk}/{study.slug}-v{version}-{secrets.token_hex(6)}.zip"
    try:
        with archive.open("rb") as file:
            return default_storage.save(name, File(file))
    except OSError:
        default_storage.delete(name)
        raise


def keep(release: Release, *, name: str, size: int) -> None:
    """Record the zip of a release; an earlier zip is deleted. Call it in the release's transaction."""
    row = Release.objects.select_for_update().get(pk=release.pk)
    before = row.archive
    row.archive, row.archive_bytes = name, size
    row.facts.pop(REMOVED, None)
    row.save(update_fields=["archive", "archive_bytes", "facts"])
    if before:
        transaction.on_commit(lambda: default_storage.delete(before))


def open_archive(release: Release) -> "File[bytes]":
    """Open the stored zip; raises NotFound if there is none or it no longer exists."""
    if not release.archive or not default_storage.exists(release.archive):
        raise NotFound(
            "release_not_kept", "The files of this release were not kept. Build the release again."
        )
    return default_storage.open(release.archive)


@transaction.atomic
def remove_files(*, release: Release, by: User) -> Release:
    """Delete the stored zip permanently. The release's digest, numbers and changes stay stored."""
    row = Release.objects.select_for_update().get(pk=release.pk)
    before = row.archive
    if not before:
        raise NotFound("release_not_kept", "The files of this release are not stored on this server.")
    row.archive, row.archive_bytes = "", None
    row.facts[REMOVED] = timezone.now().date().isoformat()
    row.save(update_fields=["archive", "archive_bytes", "facts"])
    audit.record(
        by=by, action="release.files_removed", subject=row, study=row.study, version=row.version, file=before
    )
    transaction.on_commit(lambda: default_storage.delete(before))
    return row


@transaction.atomic
def set_aside(*, release: Release, by: User) -> Release:
    """Note that nobody ever got a release: later ones are not checked against it. Its files must be gone."""
    row = Release.objects.select_for_update(of=("self",)).select_related("study").get(pk=release.pk)
    if row.archive:
        raise Conflict("release_has_files", "Remove the files of this release first.")
    if row.set_aside_at is None:
        row.set_aside_at = timezone.now()
        row.save(update_fields=["set_aside_at"])
        audit.record(by=by, action="release.set_aside", subject=row, study=row.study, version=row.version)
    return row


def forget(instance: Release, **_: object) -> None:
    """Delete the stored zip of a release whose row was deleted, with its study or alone."""
    name = instance.archive
    if name:
        transaction.on_commit(lambda: default_storage.delete(name))


def remove_leftovers() -> int:
    """Remove files of killed builds, which may contain people who withdrew later. Return their number."""
    before = time.time() - _LEFT_BEHIND
    leftovers = [folder for folder in _place().glob("tmp*") if _untouched(folder, since=before)]
    for leftover in leftovers:
        shutil.rmtree(leftover, ignore_errors=True)
    return len(leftovers)


def _place() -> Path:
    return Path(settings.VAR) / "releases"


def _untouched(place: Path, *, since: float) -> bool:
    try:
        return all(path.lstat().st_mtime < since for path in (place, *place.rglob("*")))
    except FileNotFoundError:
        return False  # a build that ends just now
