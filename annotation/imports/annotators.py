"""Whoever labelled in an imported file: stand-ins under a pseudonym, who may not be one person each."""

from collections.abc import Sequence

from accounts.models import Annotator, AnnotatorProfile, new_pseudonym
from annotation.models import Campaign, Enrolment
from foundation.database.bulk import allocate_keys, insert

_BATCH = 900


def imported_annotators(
    campaign: Campaign, names: Sequence[str], regions: dict[str, str] | None = None
) -> dict[str, int]:
    """Return the key of each imported annotator of the study, created where it is new, and enrol them."""
    source = campaign.study.slug
    known = dict(Annotator.objects.filter(source=source).exclude(source_id="").values_list("source_id", "pk"))
    new = [name for name in dict.fromkeys(names) if name not in known]
    keys = allocate_keys(Annotator, len(new))
    insert(
        Annotator,
        {
            "id": keys,
            "pseudonym": _pseudonyms(len(new)),
            "origin": [Annotator.Origin.IMPORTED.value] * len(new),
            "source": [source] * len(new),
            "source_id": new,
        },
    )
    known.update(zip(new, keys, strict=True))
    mine = {name: known[name] for name in dict.fromkeys(names)}
    insert(
        Enrolment,
        {
            "campaign_id": [campaign.pk] * len(mine),
            "annotator_id": list(mine.values()),
            "state": [Enrolment.State.ACTIVE.value] * len(mine),
            "reason": [""] * len(mine),
            "joined_print": [""] * len(mine),
        },
    )
    for name, region in (regions or {}).items():
        if name in mine:
            AnnotatorProfile.objects.update_or_create(
                annotator_id=mine[name], defaults={"region_of_origin": region}
            )
    return mine


def _pseudonyms(count: int) -> list[str]:
    """Return new pseudonyms, none of them in use: among millions, chance alone would repeat one."""
    found: dict[str, None] = {}
    while len(found) < count:
        drawn = list({new_pseudonym() for _ in range(count - len(found))})
        for start in range(0, len(drawn), _BATCH):
            part = drawn[start : start + _BATCH]
            used = set(Annotator.objects.filter(pseudonym__in=part).values_list("pseudonym", flat=True))
            found.update((pseudonym, None) for pseudonym in part if pseudonym not in used)
    return list(found)
