"""Import any table of judgements with a column map, in one transaction."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from django.db import transaction

from accounts.models import Annotator, User
from annotation.imports.campaign import create_campaign
from annotation.imports.cells import Reading
from annotation.imports.column_map import ColumnMap
from annotation.imports.marks import Marks, StudyImage, read_marks
from annotation.imports.ratings import read_ratings
from annotation.imports.writer import LoadSummary, load_marks, load_ratings
from annotation.kinds.registry import MARKING, RATING
from annotation.models import (
    Annotation,
    Box,
    CampaignAttribute,
    Enrolment,
    Judgement,
    Task,
    TaskAttribute,
)
from catalog.imports.resources import attribute_ids
from catalog.models import IdentityGroup, Resource
from foundation.database.bulk import refresh_statistics
from foundation.errors import Conflict, DomainError
from foundation.tables.reader import Table, read_table
from foundation.tables.report import RowsReport
from generation.models import Image
from jobs.progress.reporter import Progress, Unwatched
from studies import audit
from studies.models import AuditEntry, Study, StudyAssociation, StudyGroup
from studies.protocol import attribute_roles
from studies.protocol.creation import create_study
from studies.protocol.freeze import freeze

IMPORTED = "labels.imported"
_WRITTEN_MODELS = (
    Annotator,
    Enrolment,
    Image,
    Task,
    TaskAttribute,
    CampaignAttribute,
    Annotation,
    Judgement,
    Box,
    StudyAssociation,
)


@dataclass(frozen=True)
class ImportReport:
    """The kept, repaired and rejected rows of each file, and what was written."""

    study: Study
    reports: tuple[RowsReport, ...]
    loaded: tuple[LoadSummary, ...]
    unchanged: bool = False  # the same files were imported before, so nothing changed
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the report as lines of plain text."""
        if self.unchanged:
            return [f"nothing changed: {self.study.name} already has the labels of this import"]
        lines = [line for report in self.reports for line in report.lines()]
        lines += [loaded.line() for loaded in self.loaded]
        return lines + [f"note: {note}" for note in self.notes]


@dataclass(frozen=True)
class ImportTarget:
    """The target of an import: an existing study, or the name and resource of a new study."""

    name: str  # of the study
    by: User | None
    resource: Resource | None = None
    campaign: str = ""  # name of the campaign; if empty, the name of its kind
    study: Study | None = None  # set by `looked_up`

    def looked_up(self) -> "ImportTarget":
        """Return the target with the study of its name, if it exists, locked until the transaction ends."""
        return replace(self, study=find_study(self.name))

    @property
    def groups_from(self) -> Resource | None:
        """The resource with the groups that rows can refer to."""
        return self.resource or (self.study.resource if self.study is not None else None)


def import_annotations(
    *,
    target: ImportTarget,
    file: Path | BinaryIO,
    column_map: ColumnMap,
    file_name: str | None = None,
    sheet: str | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Import a table of judgements into the target's study, which is created if it does not exist.

    Unreadable rows are left out and reported. Importing the same file with the same map again changes
    nothing. Raises DomainError if the file or the map is invalid or the study does not fit.
    """
    progress = progress or Unwatched()
    progress.start(3)
    table = read_table(file, name=file_name, sheet=sheet)
    progress.advance(1, message="checking rows")
    return import_table(table=table, column_map=column_map, target=target, progress=progress)


def import_table(
    *,
    table: Table,
    column_map: ColumnMap,
    target: ImportTarget,
    progress: Progress,
    notes: Sequence[str] = (),
) -> ImportReport:
    """Import a table that has been read; `notes` come first in the report's notes."""
    column_map.check(table)
    digest = digest_of([table], column_map.to_dict(), target.resource)
    with transaction.atomic():
        target = target.looked_up()
        if target.study is not None and imported_before(target.study, digest):
            return ImportReport(target.study, (), (), unchanged=True)
        import_rows = _import_ratings if column_map.rates else _import_marks
        report = import_rows(table, column_map, target, progress)
        report = replace(report, notes=(*notes, *report.notes))
        record_import(report, digest=digest, by=target.by)
    progress.advance(1)
    return report


def _import_marks(
    table: Table, column_map: ColumnMap, target: ImportTarget, progress: Progress
) -> ImportReport:
    marks, study_images = read_for_study(table, column_map, target)
    refuse_empty(marks.reading)
    study = prepare_study(target, groups=sorted(set(marks.group.of(marks.reading.accepted))))
    notes = _store_roles(study, marks) if "role" in column_map.columns else []
    if not study.associations.exists():
        notes.append("no resource or role column defines stereotypes, so every attribute counts as random")
    progress.advance(1, message="writing")
    kind = MARKING
    campaign = create_campaign(study=study, kind=kind, name=target.campaign, by=target.by)
    loaded = load_marks(campaign=campaign, marks=marks, study_images=study_images)
    return ImportReport(study, (marks.reading.report("annotations"),), (loaded,), notes=tuple(notes))


def _import_ratings(
    table: Table, column_map: ColumnMap, target: ImportTarget, progress: Progress
) -> ImportReport:
    ratings = read_ratings(Reading(table), column_map)
    refuse_empty(ratings.reading)
    study = prepare_study(target, groups=None)
    progress.advance(1, message="writing")
    kind = RATING
    campaign = create_campaign(study=study, kind=kind, name=target.campaign, by=target.by)
    loaded = load_ratings(campaign=campaign, ratings=ratings)
    return ImportReport(study, (ratings.reading.report("ratings"),), (loaded,))


def read_for_study(
    table: Table, column_map: ColumnMap, target: ImportTarget
) -> tuple[Marks, dict[tuple[str, str], StudyImage]]:
    """Read marks and return them with the study's images."""
    study_images = images_by_name(target.study) if target.study is not None else {}
    return read_marks(
        Reading(table), column_map, groups=_allowed_groups(target), study_images=study_images
    ), study_images


def _allowed_groups(target: ImportTarget) -> set[str] | None:
    """Return the names of groups that rows may use, or None if any name creates a group."""
    if target.groups_from is None:
        return None
    if target.study is not None and target.study.frozen_at is not None:
        return set(target.study.groups.values_list("name", flat=True))
    return set(target.groups_from.groups.values_list("name", flat=True))


def find_study(name: str) -> Study | None:
    """Return the study with this name or slug, locked until the transaction ends, or None."""
    name = " ".join(name.split())
    studies = Study.objects.select_for_update(of=("self",)).select_related("resource")
    return studies.filter(name=name).first() or studies.filter(slug=name).first()


def imported_before(study: Study, digest: str) -> bool:
    """Return whether this import was already made into this study."""
    return AuditEntry.objects.filter(study=study, action=IMPORTED, details__digest=digest).exists()


def refuse_labelled(study: Study) -> None:
    """Raise Conflict if the study already has labels."""
    if Annotation.objects.filter(campaign__study=study).exists():
        raise Conflict(
            "study_has_labels",
            f"The study “{study.name}” already has other labels. Import into a new study.",
            fields={"study": "has labels"},
        )


def refuse_empty(reading: Reading) -> None:
    """Raise DomainError if no row could be read, because the map or the file is wrong."""
    if reading.accepted.any():
        return
    report = reading.report("annotations")
    if not report.rejected:
        raise DomainError("table_empty", f"“{report.file}” has a header but no rows.")
    row, reason = report.rejected[0].row, report.rejected[0].reason
    raise DomainError(
        "no_row_readable",
        f"None of the {report.read:,} rows of “{report.file}” can be read; row {row}: {reason}.",
        fields={f"row {rejection.row}": rejection.reason for rejection in report.rejected[:20]},
    )


def images_by_name(study: Study) -> dict[tuple[str, str], StudyImage]:
    """Return the study's images by (source name or public id, model), and by (name, "") for unique names."""
    rows = Image.objects.filter(study=study).values_list(
        "pk", "public_id", "source_name", "model_label", "group__name", "condition", "width", "height"
    )
    images: dict[tuple[str, str], StudyImage] = {}
    name_counts: dict[str, int] = {}
    for pk, public_id, source_name, model, group, condition, width, height in rows.iterator():
        size = (width, height) if width and height else None
        image = StudyImage(pk, group or "", model, condition, size)
        for name in {str(public_id), source_name} - {""}:
            images[name, model] = image
            name_counts[name] = name_counts.get(name, 0) + 1
    for (name, _), image in list(images.items()):
        if name_counts[name] == 1:
            images[name, ""] = image
    return images


def prepare_study(target: ImportTarget, *, groups: Sequence[str] | None) -> Study:
    """Return the frozen study, created if necessary, with these groups (None: all groups of its resource)."""
    study, resource = target.study, target.resource
    if study is None:
        study_groups = resource.groups.all() if resource is not None else IdentityGroup.objects.none()
        if groups is not None:
            study_groups = study_groups.filter(name__in=groups)
        study = create_study(name=target.name, resource=resource, groups=study_groups, by=target.by)
    elif resource is not None and study.resource_id != resource.pk:
        raise Conflict(
            "study_has_other_resource",
            f"The study “{study.name}” does not use the resource “{resource.name}”.",
            fields={"resource": "another resource"},
        )
    if study.frozen_at is None or study.resource_id is None:
        _add_groups(study, groups or ())
    return freeze(study=study, by=target.by)


def _add_groups(study: Study, names: Sequence[str]) -> None:
    present = set(study.groups.values_list("name", flat=True))
    missing = [name for name in names if name not in present]
    resource_groups = {group.name: group for group in study.resource.groups.all()} if study.resource else {}
    StudyGroup.objects.bulk_create(
        StudyGroup(
            study=study,
            group=resource_groups.get(name),
            name=name,
            display_name=resource_groups[name].display_name if name in resource_groups else name,
            region=resource_groups[name].region if name in resource_groups else "",
            iso_code=resource_groups[name].iso_code if name in resource_groups else "",
            map_code=resource_groups[name].map_code if name in resource_groups else "",
        )
        for name in missing
    )


def _store_roles(study: Study, marks: Marks) -> list[str]:
    """Store stereotypes from the role column if the study has no resource; return notes for the report."""
    if study.resource_id is not None:
        return ["roles follow the resource; the role column was not used"]
    role_of_pair = _roles_of_pairs(study, marks)
    # Pairs of an earlier import keep their role, so that existing results do not change.
    planned = CampaignAttribute.objects.filter(campaign__study=study).values_list(
        "group", "attribute", "role"
    )
    earlier_roles = {(group, attribute): role for group, attribute, role in planned}
    new_pairs = [
        pair
        for pair, role in role_of_pair.items()
        if role == attribute_roles.STEREOTYPE and pair not in earlier_roles
    ]
    StudyAssociation.objects.bulk_create(
        (
            StudyAssociation(study=study, group_id=group, attribute_id=attribute)
            for group, attribute in new_pairs
        ),
        batch_size=500,
    )
    missing_count = sum(role == "" for pair, role in role_of_pair.items() if pair not in earlier_roles)
    differing_count = sum(
        role not in ("", earlier_roles[pair]) for pair, role in role_of_pair.items() if pair in earlier_roles
    )
    notes = []
    if missing_count:
        notes.append(f"{missing_count:,} pairs of group and attribute have no role: they count as random")
    if differing_count:
        notes.append(f"{differing_count:,} pairs of group and attribute keep the role of an earlier import")
    return notes


def _roles_of_pairs(study: Study, marks: Marks) -> dict[tuple[int, int], str]:
    """Return the role, or '', in the first row of each pair of group and attribute, by their keys."""
    rows = np.flatnonzero(marks.reading.accepted & ~marks.is_none)
    width = len(marks.attribute.values)
    codes, first_positions = np.unique(
        marks.group.codes[rows] * width + marks.attribute.codes[rows], return_index=True
    )
    groups = dict(study.groups.values_list("name", "pk"))
    attributes = attribute_ids(texts={marks.attribute.values[code % width] for code in codes})
    return {
        (groups[marks.group.values[code // width]], attributes[marks.attribute.values[code % width]]): role
        for code, role in zip(codes.tolist(), marks.role.of(rows[first_positions]), strict=True)
    }


def digest_of(tables: Sequence[Table], options: Any, resource: Resource | None) -> str:
    """Return a digest of the files, the reading options and the resource."""
    content = [[table.digest for table in tables], options, resource.pk if resource is not None else None]
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def record_import(report: ImportReport, *, digest: str, by: User | None) -> None:
    """Record the import in the audit trail and refresh the database's statistics; call this last."""
    refresh_statistics(*_WRITTEN_MODELS)
    files = [
        {
            "kind": rows.kind,
            "file": rows.file,
            "read": rows.read,
            "kept": rows.kept,
            "repaired": rows.repaired,
            "rejected": len(rows.rejected),
        }
        for rows in report.reports
    ]
    audit.record(by=by, action=IMPORTED, subject=report.study, study=report.study, digest=digest, files=files)
