"""Query conditions on raters' answers: whether a pair is a stereotype, and whether it was rated."""

from django.db.models import F, Q, TextChoices, Value
from django.db.models.functions import Coalesce
from django.db.models.lookups import GreaterThanOrEqual

MIN_RATERS = 2


class RaterPools(TextChoices):
    """Whether one pool must have enough raters, as in the table released with ViSAGe, or both together."""

    SEPARATE = "separate", "of one pool, in the region or outside it"
    SUMMED = "summed", "of both pools together"


def enough_raters(min_raters: int, rater_pools: str = RaterPools.SEPARATE, *, path: str = "") -> Q:
    """Return the condition that at least `min_raters` raters of one pool called the pair a stereotype.

    `summed` counts both pools together. Pairs without rater counts (both null) are stereotypes because they are
    listed (metrics.md §0). `path` is the lookup prefix of the pair, such as `stereotypes__`.
    `analysis.metrics.assign_roles` applies the same rule to a table.
    """
    inside, outside = f"{path}in_region_stereotype", f"{path}out_region_stereotype"
    uncounted = Q(**{f"{inside}__isnull": True, f"{outside}__isnull": True})
    if rater_pools == RaterPools.SUMMED:
        raters = Coalesce(F(inside), Value(0)) + Coalesce(F(outside), Value(0))
        return uncounted | Q(GreaterThanOrEqual(raters, Value(min_raters)))
    return uncounted | Q(**{f"{inside}__gte": min_raters}) | Q(**{f"{outside}__gte": min_raters})


def rated(*, path: str = "") -> Q:
    """Return the condition that the stored mean of a pair comes from ratings of its offensiveness.

    SeeGULL stores 0 for unrated pairs, so a 0 without ratings does not count (metrics.md §3).
    """
    stored = f"{path}offensiveness_stored"
    unrated = Q(**{f"{path}rating_{number}__isnull": True for number in (1, 2, 3)})
    return Q(**{f"{stored}__isnull": False}) & ~(unrated & Q(**{stored: 0}))
