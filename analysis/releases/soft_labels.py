"""How annotators answered, taken together: shares beside the majority, counted by the database."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from django.db.models import Count, Q, QuerySet

from analysis.releases.label_tables import Naming
from analysis.releases.labels import encoded
from analysis.releases.reading import INTEGER, Columns, stream
from annotation.counted import counted
from annotation.models import Campaign, Judgement

RATINGS = (1, 2, 3, 4, 5)
_AT_ONCE = 16_384
_KINDS = pa.array(["presence", "rating"], pa.string())


def presence(campaigns: Sequence[Campaign], naming: Naming, *, using: str) -> Iterator[dict[str, Any]]:
    """Yield rows of images × attributes: n who answered, k who marked it. `majority` is null on a tie."""
    mine = [campaign for campaign in campaigns if campaign.kind == Campaign.Kind.STEREOTYPE_MARKING]
    keys = ("annotation__task__image", "attribute")
    counting = (
        _judgements(mine, using)
        .filter(present__isnull=False, annotation__task__image__isnull=False)
        .values(*keys)
        .annotate(n=Count("pk"), k=Count("pk", filter=Q(present=True)))
        .order_by(*keys)
    )
    for found in stream(counting, dict.fromkeys((*keys, "n", "k"), INTEGER), at_once=_AT_ONCE):
        n, k = found["n"], found["k"]
        images = naming.images.ids
        yield {
            **_shared(naming, "presence", found),
            "image": encoded(images.places(found["annotation__task__image"]), images.names),
            "k": pa.array(k),
            "share": pa.array(k / n),
            **{f"share_{value}": pa.nulls(len(n), pa.float64()) for value in RATINGS},
            "majority": pa.array(2 * k > n, mask=2 * k == n),
            "majority_rating": pa.nulls(len(n), pa.int64()),
        }


def ratings(campaigns: Sequence[Campaign], naming: Naming, *, using: str) -> Iterator[dict[str, Any]]:
    """Yield rows of attributes: the share of each of the five answers, and the one given most often."""
    mine = [campaign for campaign in campaigns if campaign.kind == Campaign.Kind.ATTRIBUTE_LIKERT]
    given = {f"n_{value}": Count("pk", filter=Q(rating=value)) for value in RATINGS}
    counting = (
        _judgements(mine, using)
        .filter(rating__isnull=False)
        .values("attribute")
        .annotate(n=Count("pk"), **given)
        .order_by("attribute")
    )
    for found in stream(counting, dict.fromkeys(("attribute", "n", *given), INTEGER), at_once=_AT_ONCE):
        counts = np.stack([found[name] for name in given], axis=1)
        most = counts.max(axis=1)
        tied = (counts == most[:, None]).sum(axis=1) > 1
        yield {
            **_shared(naming, "rating", found),
            "image": pa.nulls(len(most), pa.string()),
            "k": pa.nulls(len(most), pa.int64()),
            "share": pa.nulls(len(most), pa.float64()),
            **{
                f"share_{value}": pa.array(counts[:, index] / found["n"])
                for index, value in enumerate(RATINGS)
            },
            "majority": pa.nulls(len(most), pa.bool_()),
            "majority_rating": pa.array(counts.argmax(axis=1) + 1, mask=tied),
        }


def _judgements(campaigns: Sequence[Campaign], using: str) -> QuerySet[Judgement]:
    counts = Q(pk__in=())
    for campaign in campaigns:
        counts |= Q(annotation__in=counted(campaign))
    return Judgement.objects.using(using).filter(counts)


def _shared(naming: Naming, kind: str, found: Columns) -> dict[str, Any]:
    rows = len(found["n"])
    return {
        "kind": encoded(np.full(rows, 0 if kind == "presence" else 1), _KINDS),
        "attribute": naming.attributes.of_keys(found["attribute"]),
        "n": pa.array(found["n"]),
    }
