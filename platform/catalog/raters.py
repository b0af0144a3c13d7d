"""What a resource's raters said of a listed pair: whether it is a stereotype, whether it was rated."""

from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce
from django.db.models.lookups import GreaterThanOrEqual


def enough_raters(min_raters: int, *, path: str = "") -> Q:
    """Return the condition that at least `min_raters` raters, in-region or out, called the pair a stereotype.

    Metrics.md §0: pairs without rater counts (both null) are stereotypes because they are listed.
    `path` leads to the pair, such as `stereotypes__`.
    """
    inside, outside = f"{path}in_region_stereotype", f"{path}out_region_stereotype"
    raters = Coalesce(F(inside), Value(0)) + Coalesce(F(outside), Value(0))
    uncounted = Q(**{f"{inside}__isnull": True, f"{outside}__isnull": True})
    return uncounted | Q(GreaterThanOrEqual(raters, Value(min_raters)))


def rated(*, path: str = "") -> Q:
    """Return the condition that the stored mean of a pair stands for ratings of its offensiveness.

    SeeGULL stores 0 for unrated pairs: a 0 without ratings is none (metrics.md §3).
    """
    stored = f"{path}offensiveness_stored"
    unrated = Q(**{f"{path}rating_{number}__isnull": True for number in (1, 2, 3)})
    return Q(**{f"{stored}__isnull": False}) & ~(unrated & Q(**{stored: 0}))
