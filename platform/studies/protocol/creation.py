"""Creating a study with its settings and copies of its identity groups."""

import secrets
from collections.abc import Collection, Iterable
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from accounts.models import User
from catalog.models import IdentityGroup, Resource
from catalog.raters import MIN_RATERS, RaterPools
from foundation.errors import Conflict, DomainError
from studies import audit
from studies.models import Study, StudyGroup, StudyMembership

# Not available as slugs, because pages such as /studies/new/ use them.
_TAKEN_BY_PAGES = frozenset({"new"})


@transaction.atomic
def create_study(
    *,
    name: str,
    resource: Resource | None,
    groups: Iterable[IdentityGroup],
    by: User | None,
    seed: int | None = None,
    min_raters: int = MIN_RATERS,
    rater_pools: str = RaterPools.SEPARATE,
    min_stereotypes: int = 2,
    most_stereotypes: int | None = None,
    simulated: bool = False,
    description: str = "",
    protocol: str = Study.Protocol.VISAGE,
    parameters: dict[str, Any] | None = None,
) -> Study:
    """Create a study of `groups`, led by `by`. Prompts are added by `generation.prompts.creation`."""
    name = " ".join(name.split())
    chosen = list({group.pk: group for group in groups}.values())
    check_name(name)
    check_groups(resource, chosen)
    check_rule(
        min_raters=min_raters,
        rater_pools=rater_pools,
        min_stereotypes=min_stereotypes,
        most_stereotypes=most_stereotypes,
    )
    try:
        with transaction.atomic():
            study = Study.objects.create(
                name=name,
                slug=_free_slug(name),
                description=description.strip(),
                protocol=protocol,
                parameters=parameters or {},
                resource=resource,
                min_raters=min_raters,
                rater_pools=rater_pools,
                min_stereotypes=min_stereotypes,
                most_stereotypes=most_stereotypes,
                # 31 bits, which every image back-end accepts unchanged.
                seed=secrets.randbelow(2**31) if seed is None else seed,
                simulated=simulated,
                created_by=by,
            )
    except IntegrityError:
        raise name_taken(name) from None
    StudyGroup.objects.bulk_create(copy_of(study, group) for group in chosen)
    if by is not None:
        StudyMembership.objects.create(study=study, user=by, role=StudyMembership.Role.LEAD)
    audit.record(by=by, action="study.created", subject=study, study=study, groups=len(chosen))
    return study


def check_name(name: str, *, of: Study | None = None) -> None:
    """Raise DomainError if the name is missing, too long or used by another study."""
    limit = Study._meta.get_field("name").max_length
    if not name:
        raise DomainError("name_missing", "Give the study a name.", fields={"name": "Give the study a name."})
    if limit is not None and len(name) > limit:
        message = f"The name is longer than {limit} characters."
        raise DomainError("name_too_long", message, fields={"name": message})
    others = Study.objects.all() if of is None else Study.objects.exclude(pk=of.pk)
    if others.filter(name=name).exists():
        raise name_taken(name)


def check_groups(resource: Resource | None, groups: Collection[IdentityGroup]) -> None:
    """Raise DomainError if a resource is given without groups, or with groups of another resource."""
    if resource is not None and not groups:
        message = "Choose at least one identity group."
        raise DomainError("groups_missing", message, fields={"groups": message})
    strangers = [group.name for group in groups if resource is None or group.resource_id != resource.pk]
    if strangers:
        message = f"The group “{strangers[0]}” does not belong to the resource."
        raise DomainError("group_of_other_resource", message, fields={"groups": message})


def check_rule(
    *, min_raters: int, rater_pools: str, min_stereotypes: int, most_stereotypes: int | None
) -> None:
    """Raise DomainError for numbers below 1, unknown pools, and a limit below the required stereotypes."""
    for field, words, value in (
        ("min_raters", "The number of raters", min_raters),
        ("min_stereotypes", "The number of stereotypes", min_stereotypes),
        ("most_stereotypes", "The number of stereotypes", most_stereotypes),
    ):
        if value is not None and value < 1:
            message = f"{words} must be 1 or more."
            raise DomainError(f"{field}_too_small", message, fields={field: message})
    if most_stereotypes is not None and most_stereotypes < min_stereotypes:
        message = (
            f"A group needs {min_stereotypes} stereotypes, so the limit must be {min_stereotypes} or more."
        )
        raise DomainError("most_stereotypes_too_small", message, fields={"most_stereotypes": message})
    if rater_pools not in RaterPools.values:
        message = f"The pools of raters must be {' or '.join(RaterPools.values)}."
        raise DomainError("rater_pools_unknown", message, fields={"rater_pools": message})


def name_taken(name: str) -> Conflict:
    message = f"There is already a study named “{name}”. Choose another name."
    return Conflict("study_name_taken", message, fields={"name": message})


def _free_slug(name: str) -> str:
    # Names whose script leaves an empty slug become study, study-2, …
    stem = slugify(name)[:100] or "study"
    slugs = set(Study.objects.filter(slug__startswith=stem).values_list("slug", flat=True)) | _TAKEN_BY_PAGES
    if stem not in slugs:
        return stem
    number = 2
    while f"{stem}-{number}" in slugs:
        number += 1
    return f"{stem}-{number}"


def copy_of(study: Study, group: IdentityGroup) -> StudyGroup:
    """Return an unsaved copy of a group for the study."""
    return StudyGroup(
        study=study,
        group=group,
        name=group.name,
        display_name=group.display_name,
        region=group.region,
        iso_code=group.iso_code,
        map_code=group.map_code,
        forms=group.forms,
        dimensions=group.dimensions,
    )
