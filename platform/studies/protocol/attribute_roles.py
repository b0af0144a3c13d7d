"""Whether an attribute is a stereotype of a group: metrics.md §0, by the rule of catalog.raters."""

from typing import TypeVar

from django.db.models import QuerySet

from catalog.models import Stereotype
from catalog.raters import enough_raters
from studies.models import Study, StudyAssociation

A = TypeVar("A", Stereotype, StudyAssociation)

STEREOTYPE = "stereotype"
RANDOM = "random"


def stereotypes(associations: QuerySet[A], *, min_raters: int, rater_pools: str) -> QuerySet[A]:
    """Return those associations that at least `min_raters` raters called a stereotype.

    `rater_pools` says whether the raters of one pool must suffice (`separate`) or both pools are summed.
    Pairs of a resource without rater counts (both counts null) are stereotypes because they are listed.
    """
    return associations.filter(enough_raters(min_raters, rater_pools))


def stereotypes_of(study: Study, associations: QuerySet[A]) -> QuerySet[A]:
    """Return those associations that are stereotypes by the study's own rule."""
    return stereotypes(associations, min_raters=study.min_raters, rater_pools=study.rater_pools)
