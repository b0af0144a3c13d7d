"""Build a release: a snapshot of the labels becomes a folder, and a row that later releases are compared with."""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction

from accounts.models import User
from analysis.models import Release
from analysis.releases import key_sets, rekey
from analysis.releases.assembly import changes
from analysis.releases.assembly.absences import absences_of
from analysis.releases.assembly.fill import FORMAT, Filled, Filling
from analysis.releases.assembly.folder import (
    MANIFEST,
    files_of,
    put_in_place,
    require_folder,
    workplace,
    write_checksums,
)
from analysis.releases.assembly.snapshot import snapshot
from analysis.releases.assembly.study_facts import released_campaigns
from analysis.releases.contents import (
    CampaignFacts,
    Changes,
    Contents,
    ProbeRunFacts,
    QuestionCampaignFacts,
)
from analysis.releases.documents import write_documents
from analysis.releases.formats.label_studio import write_label_studio
from analysis.releases.parameters import LABEL_STUDIO, ReleaseParameters
from analysis.releases.privacy import profile_history
from annotation.answers.inclusion import counted
from annotation.kinds.registry import kind_of
from foundation.errors import Conflict
from jobs.progress.reporter import Progress, Unwatched
from studies import audit, consent
from studies.models import Study

PRIVACY = "privacy.json"


@dataclass(frozen=True, eq=False)
class _Attempt:
    """A release that is being built: which version, with which key, after which others."""

    study: Study
    using: str
    parameters: ReleaseParameters
    version: int
    key: bytes
    earlier: tuple[Release, ...]  # older versions, newest first
    against: tuple[Release, ...]  # those of them that profiles are checked against
    again: Release | None = None  # the same version, built before

    def fill(self, folder: Path, progress: Progress) -> Filled:
        folder.mkdir()
        return Filling(
            study=self.study,
            using=self.using,
            folder=folder,
            parameters=self.parameters,
            key=self.key,
            version=self.version,
            earlier=profile_history.earlier_of(self.against, using=self.using),
            progress=progress,
        ).run()


def build(
    *,
    study: Study,
    parameters: ReleaseParameters,
    output: Path,
    by: User | None,
    progress: Progress | None = None,
    keep: Callable[[Path, int], Callable[[Release], None]] | None = None,
) -> Release:
    """Build the study's dataset at `output`, which must be new, empty or an earlier release of the study.

    With the labels and parameters of the latest release, the result is that release again, byte for byte; otherwise it
    is the next version. `keep` is called with the whole folder and its version before anything is stored; the function
    that it returns is called with the release in the transaction that stores it.
    """
    require_folder(output, study=study.slug)
    consent.current_text(study)  # writes the default text if there is none yet, which a snapshot cannot do
    with workplace(output) as place:
        ready = place / "ready"
        with snapshot() as using:
            snapshot_study = (
                Study.objects.using(using).select_related("resource", "consent_text").get(pk=study.pk)
            )
            attempt, filled = _fill(snapshot_study, using, parameters, ready, progress or Unwatched())
            changed = _changes(attempt, filled)
            if LABEL_STUDIO in parameters.formats:
                tables = {table.name: ready / table.files["parquet"] for table in filled.tables}
                about_attributes = [c for c in filled.campaigns if kind_of(c).about_attributes]
                write_label_studio(folder=ready, tables=tables, campaigns=about_attributes)
            contents = _contents(attempt, filled, changed, ready)
        _write_documents(contents, ready)
        record_archive = keep(ready, attempt.version) if keep is not None else None

        def finish(release: Release) -> None:
            if record_archive is not None:
                record_archive(release)
            put_in_place(ready, output)

        return _record(attempt, filled, contents, study, by, finish=finish)


def _fill(
    study: Study, using: str, parameters: ReleaseParameters, ready: Path, progress: Progress
) -> tuple[_Attempt, Filled]:
    """Fill the folder as the latest release if it may be that again, else as the next."""
    releases = tuple(Release.objects.using(using).filter(study=study).order_by("-version"))
    latest = releases[0] if releases else None
    if latest is not None and _may_be_again(latest, study, using, parameters):
        versions, _ = profile_history.against_of(latest)
        against = tuple(release for release in releases if release.version in versions)
        key = bytes(latest.key)
        attempt = _Attempt(study, using, parameters, latest.version, key, releases[1:], against, latest)
        filled = _filled_again(attempt, ready, progress)
        if filled is not None and filled.inputs_digest == latest.inputs_digest:
            return attempt, filled
        shutil.rmtree(ready)
    version = latest.version + 1 if latest else 1
    key = rekey.new_key(study=study.pk, version=version)
    attempt = _Attempt(
        study, using, parameters, version, key, releases, tuple(profile_history.live(releases))
    )
    return attempt, attempt.fill(ready, progress)


def _filled_again(attempt: _Attempt, ready: Path, progress: Progress) -> Filled | None:
    """Fill the folder like the earlier release; None if profiles have changed so that it would be refused now."""
    try:
        return attempt.fill(ready, progress)
    except Conflict as error:
        if error.code != "joined_below_k":
            raise
        return None


def _may_be_again(latest: Release, study: Study, using: str, parameters: ReleaseParameters) -> bool:
    """Whether the latest release may be built again: equal choices, and the same number of labels."""
    if latest.parameters != parameters.as_json() or latest.facts["format"] != FORMAT:
        return False
    if latest.set_aside_at is not None:
        return False  # its bytes would be shared after all: they are a new version that is checked
    if changes.erased_since(latest, study=study.pk, using=using):
        return False  # the next version states how many people were erased
    _, left_out = profile_history.against_of(latest)
    numbers = {
        campaign.slug: counted(campaign).using(using).exclude(annotator__in=left_out).count()
        for campaign in released_campaigns(study, using)
    }
    return bool(numbers == latest.facts["annotations"])


def _changes(attempt: _Attempt, filled: Filled) -> Changes:
    if attempt.again is not None:
        # As recorded then: people who withdrew may have been deleted since, and the bytes would differ.
        (past_release,) = changes.history([attempt.again])
        return past_release.changes
    if not attempt.earlier:
        erased = changes.erased_since(None, study=attempt.study.pk, using=attempt.using)
        return replace(changes.FIRST, annotators_erased=erased)
    return changes.since(
        attempt.earlier[0],
        using=attempt.using,
        annotations=filled.annotation_keys,
        annotators=filled.annotator_keys,
        images=filled.image_keys,
        parameters=attempt.parameters,
        campaigns=filled.campaigns,
        rows={table.name: table.rows for table in filled.tables},
    )


def _contents(attempt: _Attempt, filled: Filled, changed: Changes, folder: Path) -> Contents:
    if filled.privacy is None:
        raise ValueError("a release is filled with its annotators")
    dated: tuple[CampaignFacts | ProbeRunFacts, ...] = (*filled.campaigns, *filled.probes)
    first_days = [part.first_day for part in dated if part.first_day]
    last_days = [part.last_day for part in dated if part.last_day]
    return Contents(
        version=attempt.version,
        study=filled.study,
        parameters=attempt.parameters,
        inputs_digest=filled.inputs_digest,
        last_day=max(last_days, default=None),
        first_day=min(first_days, default=None),
        campaigns=filled.campaigns,
        tables=filled.tables,
        images=filled.images,
        coco=filled.coco,
        privacy=filled.privacy,
        changes=changed,
        history=changes.history(attempt.earlier),
        missing=absences_of(filled, attempt.parameters),
        files=files_of(folder),
        probes=filled.probes,
    )


def _write_documents(contents: Contents, folder: Path) -> None:
    write_documents(contents=contents, folder=folder)
    _write_json(folder / PRIVACY, contents.privacy.as_json())
    _write_json(folder / MANIFEST, _manifest(contents))
    hashed_paths = {file.path for file in contents.files}
    written = files_of(folder, without=hashed_paths)
    write_checksums(folder, (*contents.files, *written))


def _manifest(contents: Contents) -> dict[str, Any]:
    study = asdict(contents.study)
    long = ("consent", "content_notice", "support", "regions")
    return {
        "format": FORMAT,
        "version": contents.version,
        "previous": contents.changes.previous,
        "study": {name: value for name, value in study.items() if name not in long},
        "parameters": contents.parameters.as_json(),
        "inputs_digest": contents.inputs_digest,
        "first_day": contents.first_day,
        "last_day": contents.last_day,
        "rows": {table.name: table.rows for table in contents.tables},
        "campaigns": [
            {
                name: getattr(campaign, name)
                for name in ("slug", "name", "kind", "annotations", "judgements", "ratings", "annotators")
            }
            | _answers_of(campaign)
            | {"not_counted": dict(sorted(campaign.not_counted.items()))}
            for campaign in contents.campaigns
        ],
        "images": asdict(contents.images),
        "coco": asdict(contents.coco) if contents.coco else None,
        "missing": [asdict(absence) for absence in contents.missing],
        "changes": changes.as_json(contents.changes),
    }


def _answers_of(campaign: CampaignFacts) -> dict[str, int]:
    return {"answers": campaign.answers} if isinstance(campaign, QuestionCampaignFacts) else {}


def _write_json(path: Path, value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False, default=_plain)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def _plain(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _record(
    attempt: _Attempt,
    filled: Filled,
    contents: Contents,
    study: Study,
    by: User | None,
    *,
    finish: Callable[[Release], None],
) -> Release:
    """Store the release and move its files into place, both or neither."""
    try:
        with transaction.atomic():
            release, new = Release.objects.get_or_create(
                study=study,
                version=attempt.version,
                defaults={
                    "parameters": attempt.parameters.as_json(),
                    "inputs_digest": contents.inputs_digest,
                    "key": attempt.key,
                    "facts": _facts(contents),
                    "annotations": key_sets.pack(filled.annotation_keys.flags),
                    "annotators": key_sets.pack(filled.annotator_keys.flags),
                    "images": key_sets.pack(filled.image_keys.flags),
                    "profiles": filled.profiles,
                    "built_by": by,
                },
            )
            # Equal labels are not enough: two who build at once may choose two licences.
            recorded = (release.inputs_digest, release.parameters)
            if recorded != (contents.inputs_digest, attempt.parameters.as_json()):
                raise _meanwhile(attempt.version)
            audit.record(
                by=by,
                action="release.built",
                subject=release,
                study=study,
                version=release.version,
                digest=release.inputs_digest,
                again=not new,
            )
            finish(release)
    except IntegrityError:
        raise _meanwhile(attempt.version) from None
    return release


def _facts(contents: Contents) -> dict[str, Any]:
    """Return what the next release compares itself with, and what pages show of this one."""
    return {
        "format": FORMAT,
        "rows": {table.name: table.rows for table in contents.tables},
        "annotations": {campaign.slug: campaign.annotations for campaign in contents.campaigns},
        "guidelines": changes.kept_guidelines(contents.campaigns),
        "last_day": contents.last_day.isoformat() if contents.last_day else None,
        "changes": changes.as_json(contents.changes),
    }


def _meanwhile(version: int) -> Conflict:
    return Conflict(
        "release_built_meanwhile",
        f"Somebody else has just built version {version}. Build your release again.",
    )
