"""Freezing a study: copying its resource, so that a later import cannot change results."""

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from catalog.models import Association, Stereotype
from studies import audit
from studies.models import Study, StudyAssociation

_COLUMNS = [field.name for field in Association._meta.get_fields()]


@transaction.atomic
def freeze(*, study: Study, by: User | None) -> Study:
    """Copy every listed pair of the study's groups; do nothing if the study is already frozen."""
    study = Study.objects.select_for_update().get(pk=study.pk)
    if study.frozen_at is not None:
        return study
    groups = {group.group_id: group.pk for group in study.groups.exclude(group=None)}
    pairs = Stereotype.objects.filter(group__in=groups).order_by("pk")
    StudyAssociation.objects.bulk_create(
        (
            StudyAssociation(
                study=study,
                group_id=groups[pair.group_id],
                attribute_id=pair.attribute_id,
                **{column: getattr(pair, column) for column in _COLUMNS},
            )
            for pair in pairs.iterator()
        ),
        batch_size=1000,
    )
    study.frozen_at = timezone.now()
    study.save(update_fields=["frozen_at"])
    audit.record(by=by, action="study.frozen", subject=study, study=study)
    return study
