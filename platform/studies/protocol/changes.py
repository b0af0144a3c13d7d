"""Changing a study: all settings until it is frozen, and the description at any time."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import IntegrityError, transaction

from accounts.models import User
from catalog.models import IdentityGroup
from foundation.errors import Conflict, DomainError
from studies import audit
from studies.models import Study, StudyGroup
from studies.protocol.creation import check_groups, check_name, check_rule, copy_of, name_taken

RULE = ("min_raters", "rater_pools", "min_stereotypes", "most_stereotypes")
CHANGEABLE = ("name", "description", *RULE, "groups")
_ALWAYS_CHANGEABLE = frozenset({"description"})


@transaction.atomic
def change_study(*, study: Study, by: User | None, **changes: Any) -> Study:
    """Change the given settings of `CHANGEABLE`; the study's address stays the same.

    `groups` are identity groups of the study's resource. A group on which images, requests or campaigns depend
    cannot be removed.
    """
    if unknown := sorted(changes.keys() - set(CHANGEABLE)):
        message = f"A study has no {', '.join(unknown)} that can be changed."
        raise DomainError("field_unknown", message, fields=dict.fromkeys(unknown, "unknown"))
    study = Study.objects.select_for_update(of=("self",)).select_related("resource").get(pk=study.pk)
    groups = changes.pop("groups", None)
    before = {name: getattr(study, name) for name in changes}
    after = _cleaned(study, changes)
    changed = {name: value for name, value in after.items() if value != before[name]}
    added, removed = _difference(study, groups)
    if study.frozen_at is not None and (changed.keys() - _ALWAYS_CHANGEABLE or added or removed):
        raise Conflict("study_frozen", f"The study “{study}” is frozen: only its description can change.")
    if not (changed or added or removed):
        return study
    for name, value in changed.items():
        setattr(study, name, value)
    _save(study, changed)
    _refuse_used(removed)
    StudyGroup.objects.filter(pk__in=[group.pk for group in removed]).delete()
    StudyGroup.objects.bulk_create([copy_of(study, group) for group in added])
    details: dict[str, object] = {}
    if added or removed:
        details = {"added": [group.name for group in added], "removed": [group.name for group in removed]}
    audit.record(
        by=by,
        action="study.changed",
        subject=study,
        study=study,
        before={name: before[name] for name in changed},
        after=changed,
        **details,
    )
    return study


def _cleaned(study: Study, changes: Mapping[str, Any]) -> dict[str, Any]:
    after = dict(changes)
    if "name" in after:
        after["name"] = " ".join(after["name"].split())
        check_name(after["name"], of=study)
    if "description" in after:
        after["description"] = after["description"].strip()
    check_rule(**{name: after.get(name, getattr(study, name)) for name in RULE})
    return after


def _save(study: Study, changed: Mapping[str, Any]) -> None:
    try:
        with transaction.atomic():
            study.save(update_fields=list(changed))
    except IntegrityError:
        raise name_taken(study.name) from None


def _difference(
    study: Study, groups: Iterable[IdentityGroup] | None
) -> tuple[list[IdentityGroup], list[StudyGroup]]:
    """Return the groups to add and the groups to remove."""
    if groups is None:
        return [], []
    chosen = {group.pk: group for group in groups}
    check_groups(study.resource, chosen.values())
    present = list(study.groups.all())
    kept = {group.group_id for group in present}
    added = [group for pk, group in chosen.items() if pk not in kept]
    return added, [group for group in present if group.group_id not in chosen]


def _refuse_used(removed: list[StudyGroup]) -> None:
    """Raise Conflict if any row refers to a group to be removed."""
    for relation in StudyGroup._meta.related_objects:
        rows = relation.related_model._base_manager.filter(**{f"{relation.field.name}__in": removed})
        if row := rows.first():
            group = getattr(row, relation.field.name)
            rows_of_it = relation.related_model._meta.verbose_name_plural
            message = f"“{group}” cannot be removed, because the study has {rows_of_it} of this group."
            raise Conflict("group_in_use", message, fields={"groups": message})
