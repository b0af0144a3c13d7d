"""A release as one zip in storage, for downloads."""

import tempfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from django.core.files.storage import default_storage

from accounts.models import User
from analysis.models import Release
from analysis.releases.assembly.build import build
from analysis.releases.parameters import ReleaseParameters
from analysis.releases.storage import zips
from jobs.progress.reporter import Progress
from studies.models import Study

_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest date in zip files; files of a release have no real times


def build_archive(
    *, study: Study, parameters: ReleaseParameters, by: User | None, progress: Progress | None = None
) -> Release:
    """Build a release and store it, both or neither; a stored zip of the same version is replaced."""
    saved: list[str] = []
    with tempfile.TemporaryDirectory(dir=zips.building_place()) as temporary:

        def keep(ready: Path, version: int) -> Callable[[Release], None]:
            archive = Path(temporary) / "release.zip"
            _zip(ready, archive, root=f"{study.slug}-v{version}")
            saved.append(zips.save(study, version=version, archive=archive))
            return partial(zips.keep, name=saved[0], size=archive.stat().st_size)

        try:
            release = build(
                study=study,
                parameters=parameters,
                output=Path(temporary) / study.slug,
                by=by,
                progress=progress,
                keep=keep,
            )
        except BaseException:
            for name in saved:
                default_storage.delete(name)
            raise
    release.refresh_from_db()
    return release


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
