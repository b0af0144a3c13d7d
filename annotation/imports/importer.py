"""Any table of judgements comes in by a column mapping, whole or not at all."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from django.db import transaction

from accounts.models import Annotator, User
from annotation.imports.cells import Reading
from annotation.imports.column_map import ColumnMap
from annotation.imports.marks import KnownImage, Marks, read_marks
from annotation.imports.ratings import read_ratings
from annotation.imports.writer import Loaded, create_campaign, load_marks, load_ratings
from annotation.models import (
    Annotation,
    Box,
    Campaign,
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
_FILLED = (
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
NAMES = {
    Campaign.Kind.STEREOTYPE_MARKING: "Stereotype marking (imported)",
    Campaign.Kind.ATTRIBUTE_LIKERT: "Visual-attribute rating (imported)",
}


@dataclass(frozen=True)
class ImportReport:
    """What an import of labels did: what became of the rows of each file, and what was written."""

    study: Study
    reports: tuple[RowsReport, ...]
    loaded: tuple[Loaded, ...]
    already: bool = False  # the same files were imported into the study before: nothing was changed
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the report as plain lines for a console."""
        if self.already:
            return [f"nothing changed: {self.study.name} already holds the labels of this import"]
        lines = [line for report in self.reports for line in report.lines()]
        lines += [loaded.line() for loaded in self.loaded]
        return lines + [f"note: {note}" for note in self.notes]


@dataclass(frozen=True)
class Target:
    """Where labels go: the study that was found, or what to create it from."""

    study: Study | None
    name: str
    resource: Resource | None
    by: User | None

    @property
    def groups_from(self) -> Resource | None:
        """The resource whose groups rows may name."""
        return self.resource or (self.study.resource if self.study is not None else None)


def import_annotations(
    *,
    study: str,
    file: Path | BinaryIO,
    column_map: ColumnMap,
    by: User | None,
    resource: Resource | None = None,
    file_name: str | None = None,
    sheet: str | None = None,
    name: str = "",
    progress: Progress | None = None,
) -> ImportReport:
    """Import a table of judgements into the study of that name, created when there is none.

    A row that cannot be read is left out and reported. Importing the same file with the same map again
    changes nothing. Raises DomainError when the file, the map or the study does not allow it.
    """
    progress = progress or Unwatched()
    progress.start(3)
    table = read_table(file, name=file_name, sheet=sheet)
    progress.advance(1, message="checking rows")
    return import_table(
        study=study,
        table=table,
        column_map=column_map,
        by=by,
        resource=resource,
        name=name,
        progress=progress,
    )


def import_table(
    *,
    study: str,
    table: Table,
    column_map: ColumnMap,
    by: User | None,
    resource: Resource | None,
    name: str,
    progress: Progress,
    notes: Sequence[str] = (),
) -> ImportReport:
    """Import a table that was read; `notes` stand in the report before what is noted here."""
    column_map.check(table)
    digest = digest_of([table], column_map.described(), resource)
    with transaction.atomic():
        found = find_study(study)
        if found is not None and imported_before(found, digest):
            return ImportReport(found, (), (), already=True)
        target = Target(found, study, resource, by)
        importing = _import_ratings if column_map.rates else _import_marks
        report = importing(table, column_map, target, name, progress)
        report = replace(report, notes=(*notes, *report.notes))
        record(report, digest=digest, by=by)
    progress.advance(1)
    return report


def _import_marks(
    table: Table, column_map: ColumnMap, target: Target, name: str, progress: Progress
) -> ImportReport:
    marks, known = read_for_study(table, column_map, target)
    refuse_nothing_left(marks.reading)
    study = prepare_study(target, groups=sorted(set(marks.group.of(marks.reading.accepted))))
    notes = _take_roles(study, marks) if "role" in column_map.columns else []
    if not study.associations.exists():
        notes.append("nothing says what is a stereotype: every attribute counts as random")
    progress.advance(1, message="writing")
    kind = Campaign.Kind.STEREOTYPE_MARKING
    campaign = create_campaign(study=study, kind=kind, name=name or NAMES[kind], by=target.by)
    loaded = load_marks(campaign=campaign, marks=marks, known=known)
    return ImportReport(study, (marks.reading.report("annotations"),), (loaded,), notes=tuple(notes))


def _import_ratings(
    table: Table, column_map: ColumnMap, target: Target, name: str, progress: Progress
) -> ImportReport:
    ratings = read_ratings(Reading(table), column_map)
    refuse_nothing_left(ratings.reading)
    study = prepare_study(target, groups=None)
    progress.advance(1, message="writing")
    kind = Campaign.Kind.ATTRIBUTE_LIKERT
    campaign = create_campaign(study=study, kind=kind, name=name or NAMES[kind], by=target.by)
    loaded = load_ratings(campaign=campaign, ratings=ratings)
    return ImportReport(study, (ratings.reading.report("ratings"),), (loaded,))


def read_for_study(
    table: Table, column_map: ColumnMap, target: Target
) -> tuple[Marks, dict[tuple[str, str], KnownImage]]:
    """Read marks, knowing the images of the study and the groups that rows may name."""
    known = known_images(target.study) if target.study is not None else {}
    return read_marks(Reading(table), column_map, groups=_allowed_groups(target), known=known), known


def _allowed_groups(target: Target) -> set[str] | None:
    """Return the names of groups that rows may use; None where any name makes a group."""
    if target.groups_from is None:
        return None
    if target.study is not None and target.study.frozen_at is not None:
        return set(target.study.groups.values_list("name", flat=True))
    return set(target.groups_from.groups.values_list("name", flat=True))


def find_study(name: str) -> Study | None:
    """Return the study of that name or slug, locked until the transaction ends, or None."""
    name = " ".join(name.split())
    studies = Study.objects.select_for_update(of=("self",)).select_related("resource")
    return studies.filter(name=name).first() or studies.filter(slug=name).first()


def imported_before(study: Study, digest: str) -> bool:
    """Whether this import was made before, into this study."""
    return AuditEntry.objects.filter(study=study, action=IMPORTED, details__digest=digest).exists()


def refuse_labelled(study: Study) -> None:
    """Raise Conflict if the study has labels already."""
    if Annotation.objects.filter(campaign__study=study).exists():
        raise Conflict(
            "study_has_labels",
            f"The study “{study.name}” has other labels already; import into a new study.",
            fields={"study": "has labels"},
        )


def refuse_nothing_left(reading: Reading) -> None:
    """Raise DomainError if no row could be read: the map is wrong, or the file."""
    if reading.accepted.any():
        return
    report = reading.report("annotations")
    if not report.rejected:
        raise DomainError("table_empty", f"“{report.file}” has a header but no rows.")
    first = report.rejected[0]
    raise DomainError(
        "no_row_readable",
        f"None of the {report.read:,} rows of “{report.file}” can be read; row {first.row}: {first.reason}.",
        fields={f"row {entry.row}": entry.reason for entry in report.rejected[:20]},
    )


def known_images(study: Study) -> dict[tuple[str, str], KnownImage]:
    """Return the study's images by (source name or public id, model), and (name, "") if only one has it."""
    rows = Image.objects.filter(study=study).values_list(
        "pk", "public_id", "source_name", "model_label", "group__name", "condition", "width", "height"
    )
    known: dict[tuple[str, str], KnownImage] = {}
    times: dict[str, int] = {}
    for pk, public_id, source_name, model, group, condition, width, height in rows.iterator():
        size = (width, height) if width and height else None
        image = KnownImage(pk, group or "", model, condition, size)
        for name in {str(public_id), source_name} - {""}:
            known[name, model] = image
            times[name] = times.get(name, 0) + 1
    for (name, _), image in list(known.items()):
        if times[name] == 1:
            known[name, ""] = image
    return known


def prepare_study(target: Target, *, groups: Sequence[str] | None) -> Study:
    """Return the study, created if need be, with these groups (None: all of its resource) and its resource frozen."""
    study, resource = target.study, target.resource
    if study is None:
        chosen = resource.groups.all() if resource is not None else IdentityGroup.objects.none()
        if groups is not None:
            chosen = chosen.filter(name__in=groups)
        study = create_study(name=target.name, resource=resource, groups=chosen, by=target.by)
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
    origin = {group.name: group for group in study.resource.groups.all()} if study.resource else {}
    StudyGroup.objects.bulk_create(
        StudyGroup(
            study=study,
            group=origin.get(name),
            name=name,
            display_name=origin[name].display_name if name in origin else name,
            region=origin[name].region if name in origin else "",
            iso_code=origin[name].iso_code if name in origin else "",
            map_code=origin[name].map_code if name in origin else "",
        )
        for name in missing
    )


def _take_roles(study: Study, marks: Marks) -> list[str]:
    """Let the role column say what is a stereotype where no resource does; return what to tell about it."""
    if study.resource_id is not None:
        return ["roles follow the resource; the role column was not used"]
    rows = np.flatnonzero(marks.reading.accepted & ~marks.is_none)
    width = len(marks.attribute.values)
    codes, first = np.unique(marks.group.codes[rows] * width + marks.attribute.codes[rows], return_index=True)
    groups = dict(study.groups.values_list("name", "pk"))
    attributes = attribute_ids(texts={marks.attribute.values[code % width] for code in codes})
    said = {
        (groups[marks.group.values[code // width]], attributes[marks.attribute.values[code % width]]): role
        for code, role in zip(codes.tolist(), marks.role.of(rows[first]), strict=True)
    }
    # What an earlier import asked keeps its role: results that exist must not change.
    planned = CampaignAttribute.objects.filter(campaign__study=study).values_list(
        "group", "attribute", "role"
    )
    before = {(group, attribute): role for group, attribute, role in planned}
    new = [pair for pair, role in said.items() if role == attribute_roles.STEREOTYPE and pair not in before]
    StudyAssociation.objects.bulk_create(
        (StudyAssociation(study=study, group_id=group, attribute_id=attribute) for group, attribute in new),
        batch_size=500,
    )
    unsaid = sum(role == "" for pair, role in said.items() if pair not in before)
    other = sum(role not in ("", before[pair]) for pair, role in said.items() if pair in before)
    notes = []
    if unsaid:
        notes.append(f"{unsaid:,} pairs of group and attribute have no role: they count as random")
    if other:
        notes.append(f"{other:,} pairs of group and attribute keep the role of an earlier import")
    return notes


def digest_of(tables: Sequence[Table], options: Any, resource: Resource | None) -> str:
    """Return what tells one import from another: the files, how they were read, and the resource."""
    content = [[table.digest for table in tables], options, resource.pk if resource is not None else None]
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def record(report: ImportReport, *, digest: str, by: User | None) -> None:
    """Write who imported what, in the transaction that did it, which is at its end."""
    refresh_statistics(*_FILLED)
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
