"""Whether an attribute is a stereotype of a group: metrics.md §0, by the rule of catalog.raters."""

from typing import TypeVar

from django.db.models import QuerySet

from catalog.models import Stereotype
from catalog.raters import enough_raters
from studies.models import StudyAssociation

A = TypeVar("A", Stereotype, StudyAssociation)

STEREOTYPE = "stereotype"
RANDOM = "random"


def stereotypes(associations: QuerySet[A], *, min_raters: int) -> QuerySet[A]:
    """Return those associations that at least `min_raters` raters, in-region or out, called a stereotype.

    Pairs of a resource without rater counts (both counts null) are stereotypes because they are listed.
    """
    return associations.filter(enough_raters(min_raters))
