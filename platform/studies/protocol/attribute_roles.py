"""Roles of attributes: the stereotypes of a group by the rule of catalog.raters (metrics.md §0)."""

from typing import TypeVar

from django.db.models import F, QuerySet, Value, Window
from django.db.models.functions import MD5, Coalesce, Concat, RowNumber

from catalog.models import Stereotype
from catalog.raters import enough_raters
from studies.models import Study, StudyAssociation

A = TypeVar("A", Stereotype, StudyAssociation)

STEREOTYPE = "stereotype"
RANDOM = "random"


def stereotypes(associations: QuerySet[A], *, min_raters: int, rater_pools: str) -> QuerySet[A]:
    """Return the associations that at least `min_raters` raters called a stereotype.

    `rater_pools` decides whether one pool must have enough raters (`separate`) or both pools are summed.
    Pairs without rater counts (both counts null) are stereotypes because the resource lists them.
    """
    return associations.filter(enough_raters(min_raters, rater_pools))


def stereotypes_of(study: Study, associations: QuerySet[A]) -> QuerySet[A]:
    """Return the associations that are stereotypes by the study's rule, up to its limit per group."""
    marked = stereotypes(associations, min_raters=study.min_raters, rater_pools=study.rater_pools)
    if study.most_stereotypes is None:
        return marked
    return marked.filter(pk__in=_first_of_each_group(marked, study.most_stereotypes, study.seed))


def _first_of_each_group(marked: QuerySet[A], most: int, seed: int) -> QuerySet[A, int]:
    """Return the keys of each group's `most` pairs with most raters; the study's seed breaks ties."""
    raters = Coalesce(F("in_region_stereotype"), 0) + Coalesce(F("out_region_stereotype"), 0)
    draw = MD5(Concat(Value(f"{seed}:"), F("attribute__text")))
    rank = Window(RowNumber(), partition_by=F("group_id"), order_by=[raters.desc(), draw.asc()])
    return marked.order_by().annotate(rank=rank).filter(rank__lte=most).values_list("pk", flat=True)
