"""A release as one zip in storage, for the pages to hand out."""

import tempfile
import zipfile
from pathlib import Path

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction

from accounts.errors import NotFound
from accounts.models import User
from analysis.models import Release
from analysis.releases.building import build
from analysis.releases.contents import ReleaseParameters
from jobs.progress import Progress
from studies.models import Study

_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # zip knows no earlier day; no file of a release has a clock's


def build_archive(
    *, study: Study, parameters: ReleaseParameters, by: User | None, progress: Progress | None = None
) -> Release:
    """Build a release and keep it in storage; one that was kept of the same version is replaced."""
    beside = Path(settings.VAR) / "releases"
    beside.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=beside) as temporary:
        folder = Path(temporary) / study.slug
        release = build(study=study, parameters=parameters, output=folder, by=by, progress=progress)
        archive = Path(temporary) / "release.zip"
        _zip(folder, archive, root=f"{study.slug}-v{release.version}")
        return _keep(release, archive)


def open_archive(release: Release) -> File:
    """Open the kept zip; NotFound where none was kept or it is gone."""
    if not release.archive or not default_storage.exists(release.archive):
        raise NotFound("release_not_kept", "The files of this release were not kept; build it again.")
    return default_storage.open(release.archive)


def _zip(folder: Path, archive: Path, *, root: str) -> None:
    # Stored, not compressed: Parquet and pictures are compressed already.
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as packed:
        for path in sorted(folder.rglob("*"), key=lambda path: path.relative_to(folder).as_posix()):
            if path.is_file():
                entry = zipfile.ZipInfo(f"{root}/{path.relative_to(folder).as_posix()}", _LONG_AGO)
                entry.external_attr = 0o644 << 16
                entry.file_size = path.stat().st_size
                with path.open("rb") as source, packed.open(entry, "w") as target:
                    while piece := source.read(1024 * 1024):
                        target.write(piece)


def _keep(release: Release, archive: Path) -> Release:
    before = release.archive
    with archive.open("rb") as file:
        name = default_storage.save(
            f"releases/{release.study_id}/{release.study.slug}-v{release.version}.zip", File(file)
        )
    with transaction.atomic():
        Release.objects.filter(pk=release.pk).update(archive=name, archive_bytes=archive.stat().st_size)
        if before:
            transaction.on_commit(lambda: default_storage.delete(before))
    release.refresh_from_db()
    return release
