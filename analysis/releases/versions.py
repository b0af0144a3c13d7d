"""The releases of a study, and the checksums of their files, for pages and the API."""

import zipfile
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from analysis.models import Release
from analysis.releases import build_job
from analysis.releases.documents.changelog import changed
from analysis.releases.documents.licences import licence_of
from analysis.releases.storage.zips import open_archive
from foundation.errors import NotFound
from jobs.models import Job
from studies.models import Study

_CHECKSUMS = "checksums.sha256"
_MOST_LISTED = 200_000


@dataclass(frozen=True)
class Checksum:
    """One file of a kept release."""

    path: str
    sha256: str


def release_of(study: Study, version: int) -> Release:
    """Return one version; raises NotFound if there is none."""
    release = Release.objects.filter(study=study, version=version).select_related("built_by", "study").first()
    if release is None:
        raise NotFound("release_not_found", f"This study has no release {version}.")
    return release


def failed_build(study: Study) -> Job | None:
    """Return the last build if it failed and no other has been started since."""
    job = Job.objects.filter(study_id=study.pk, kind=build_job.JOB_KIND).order_by("-pk").first()
    return job if job is not None and job.state == Job.State.FAILED else None


def changes_of(release: Release) -> list[str]:
    """Return the changes since the previous release, one per line, as plain text; empty for the first release."""
    from analysis.releases.assembly.changes import history  # loads numerical libraries

    (past,) = history([release])
    if past.changes.previous is None:
        return []
    return [line.replace("\\", "").replace("`", "") for line in changed(past.changes)]


def facts_of(release: Release) -> dict[str, Any]:
    """Return the facts of a release, for a page and for the API."""
    return {
        "version": release.version,
        "built_at": release.built_at,
        "inputs_digest": release.inputs_digest,
        "last_day": release.facts["last_day"],
        "rows": release.facts["rows"],
        "parameters": release.parameters,
        "licence": licence_of(release.parameters["licence"]).name,
        "archive_bytes": release.archive_bytes,
        "set_aside_at": release.set_aside_at,
    }


def checksums_of(release: Release) -> list[Checksum]:
    """Return the digests of the stored files, in order of path; none if no files were stored."""
    if not release.archive:
        return []
    try:
        with open_archive(release) as file, zipfile.ZipFile(file) as packed:
            name = next(path for path in packed.namelist() if PurePosixPath(path).name == _CHECKSUMS)
            lines = packed.read(name).decode().splitlines()[:_MOST_LISTED]
    except (NotFound, StopIteration, zipfile.BadZipFile):
        return []
    return [Checksum(path, sha256) for sha256, _, path in (line.partition("  ") for line in lines)]
