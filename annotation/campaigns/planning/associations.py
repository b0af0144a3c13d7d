"""The associations a study's resource lists: sets of attributes by group, and their texts."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self, TypeVar

from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from catalog.models import Attribute, Stereotype
from studies.models import Study, StudyAssociation
from studies.protocol.attribute_roles import stereotypes_of

A = TypeVar("A", Stereotype, StudyAssociation)


@dataclass(frozen=True)
class AssociationSets:
    """The frozen copy if there is one, else the present catalog; keyed by the study's own groups.

    `offensive` are the stereotypes whose offensiveness is above 0: the resource's stored value or, without one, the
    mean of its ratings.
    """

    listed: dict[int, set[int]]
    stereotypes: dict[int, set[int]]
    offensive: dict[int, set[int]]
    texts: dict[int, str]

    @classmethod
    def of(cls, study: Study) -> Self:
        """Read the associations of a study: four queries."""
        if study.frozen_at is not None:
            return cls._read(StudyAssociation.objects.filter(study=study), study, "group_id")
        # The join adds the study's copy of the group to each pair.
        current = Stereotype.objects.filter(group__study_groups__study=study)
        return cls._read(current, study, "group__study_groups__pk")

    def is_offensive(self, group: int | None, attributes: Iterable[int]) -> bool:
        """Return whether any of the attributes is an offensive stereotype of the group; None: of any group."""
        if group is None:
            return any(attribute in marked for attribute in attributes for marked in self.offensive.values())
        return not self.offensive.get(group, set()).isdisjoint(attributes)

    @classmethod
    def _read(cls, listed: QuerySet[A], study: Study, group: str) -> Self:
        marked = stereotypes_of(study, listed)
        ratings = (Coalesce(F(f"rating_{number}"), Value(0.0)) for number in (1, 2, 3))
        offensive = marked.annotate(rated=sum(ratings, start=Value(0.0))).filter(
            Q(offensiveness_stored__gt=0) | Q(offensiveness_stored=None, rated__gt=0)
        )
        by_group = _by_group(listed, group)
        attribute_ids = set().union(*by_group.values())
        return cls(
            listed=by_group,
            stereotypes=_by_group(marked, group),
            offensive=_by_group(offensive, group),
            texts={
                pk: text for pk, text in Attribute.objects.values_list("pk", "text") if pk in attribute_ids
            },
        )


def _by_group(pairs: QuerySet[A], group: str) -> dict[int, set[int]]:
    attributes: dict[int, set[int]] = defaultdict(set)
    for key, attribute in pairs.values_list(group, "attribute_id"):
        attributes[key].add(attribute)
    return dict(attributes)
