"""Descriptors of a resource that a study asks models about."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from django.core.files.base import File
from django.db import transaction

from accounts.models import User
from catalog.imports.descriptors import import_descriptors
from catalog.models import Resource
from catalog.word_forms import SINGULAR, complete_forms
from foundation.errors import Conflict
from studies import audit
from studies.models import Study, StudyGroup
from studies.protocol.creation import copy_of, create_study


@dataclass(frozen=True)
class AddedDescriptors:
    """The number of descriptors added to a study, and of existing ones completed with forms or dimensions."""

    created: int
    completed: int


@transaction.atomic
def create_descriptor_study(
    *,
    resource: Resource | None,
    by: User | None,
    files: "Sequence[File[Any]]" = (),
    resource_name: str = "",
    **settings: Any,
) -> Study:
    """Create a BiasDora study (`settings` as for `create_study`) of a resource or of descriptors in files.

    Files become the new resource `resource_name`, which must not exist, because others may have studies of it.
    """
    if resource is None:
        resource = _uploaded(files, resource_name, by)
    study = create_study(resource=None, groups=[], by=by, protocol=Study.Protocol.BIASDORA, **settings)
    add_descriptors(study=study, resource=resource, by=by)
    return study


def _uploaded(files: "Sequence[File[Any]]", name: str, by: User | None) -> Resource:
    name = " ".join(name.split())
    if Resource.objects.filter(name=name).exists():
        message = f"There is already a resource named “{name}”: choose it, or give another name."
        raise Conflict("resource_name_taken", message, fields={"resource_name": message})
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, file in enumerate(files):
            # A folder for each file, because two files may have the same name, and errors mention it.
            path = Path(folder) / str(number) / (PurePosixPath(file.name or "").name or "file.csv")
            path.parent.mkdir()
            path.write_bytes(file.read())
            paths.append(path)
        return import_descriptors(files=paths, name=name, by=by).resource


@transaction.atomic
def add_descriptors(*, study: Study, resource: Resource, by: User | None) -> AddedDescriptors:
    """Copy a resource's descriptors to the study; descriptors that it already has keep their forms.

    Raises Conflict if the study uses groups of another resource.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    if study.resource_id not in (None, resource.pk):
        raise Conflict(
            "resource_of_study",
            f"The study “{study}” is about groups of “{study.resource}”; create another study for “{resource}”.",
        )
    existing = {group.name: group for group in study.groups.all()}
    offered = list(resource.groups.order_by("pk"))
    new = [copy_of(study, group) for group in offered if group.name not in existing]
    completed = []
    for group in offered:
        study_group = existing.get(group.name)
        if study_group is None:
            continue
        forms = {**group.forms, **study_group.forms}
        dimensions = [
            *study_group.dimensions,
            *(name for name in group.dimensions if name not in study_group.dimensions),
        ]
        if (forms, dimensions) != (study_group.forms, study_group.dimensions):
            study_group.forms, study_group.dimensions = forms, dimensions
            completed.append(study_group)
    StudyGroup.objects.bulk_create(new, batch_size=500)
    StudyGroup.objects.bulk_update(completed, ["forms", "dimensions"], batch_size=100)
    if study.resource_id is None:
        study.resource = resource
        study.save(update_fields=["resource"])
    if new or completed:
        audit.record(
            by=by,
            action="study.descriptors_added",
            subject=study,
            study=study,
            created=len(new),
            completed=len(completed),
        )
    return AddedDescriptors(len(new), len(completed))


def forms_of(group: StudyGroup) -> Mapping[str, str]:
    """Return form → words of a descriptor in sentences; a missing plural is formed by rule."""
    return complete_forms(group.forms or {SINGULAR: group.display_name})
