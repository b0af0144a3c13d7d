"""Descriptors of a resource that a study asks models about."""

from dataclasses import dataclass

from django.db import transaction

from accounts.models import User
from catalog.models import Resource
from foundation.errors import Conflict
from studies import audit
from studies.models import Study, StudyGroup
from studies.protocol.creation import copy_of


@dataclass(frozen=True)
class AddedDescriptors:
    """How many descriptors a study got, and how many of its own got forms or dimensions that they lacked."""

    created: int
    completed: int


@transaction.atomic
def add_descriptors(*, study: Study, resource: Resource, by: User | None) -> AddedDescriptors:
    """Give the study its own copies of a resource's descriptors; what it has of them keeps its forms.

    Raises Conflict where the study is about groups of another resource.
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
