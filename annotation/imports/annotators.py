"""Annotators of an imported file, each with a pseudonym; an id in the file need not be one person."""

from collections.abc import Sequence

from accounts.models import Annotator, AnnotatorProfile, new_pseudonym
from annotation.models import Campaign, Enrolment
from foundation.database.bulk import allocate_keys, insert

_BATCH = 900


def imported_annotators(
    campaign: Campaign, names: Sequence[str], regions: dict[str, str] | None = None
) -> dict[str, int]:
    """Create annotators that are new to the study, enrol all in the campaign and return keys by name."""
    source = campaign.study.slug
    ids_by_name = dict(
        Annotator.objects.filter(source=source).exclude(source_id="").values_list("source_id", "pk")
    )
    new_names = [name for name in dict.fromkeys(names) if name not in ids_by_name]
    new_ids = allocate_keys(Annotator, len(new_names))
    insert(
        Annotator,
        {
            "id": new_ids,
            "pseudonym": _pseudonyms(len(new_names)),
            "origin": [Annotator.Origin.IMPORTED.value] * len(new_names),
            "source": [source] * len(new_names),
            "source_id": new_names,
        },
    )
    ids_by_name.update(zip(new_names, new_ids, strict=True))
    enrolled_ids = {name: ids_by_name[name] for name in dict.fromkeys(names)}
    insert(
        Enrolment,
        {
            "campaign_id": [campaign.pk] * len(enrolled_ids),
            "annotator_id": list(enrolled_ids.values()),
            "state": [Enrolment.State.ACTIVE.value] * len(enrolled_ids),
            "reason": [""] * len(enrolled_ids),
            "joined_print": [""] * len(enrolled_ids),
            "joined_device": [""] * len(enrolled_ids),
        },
    )
    for name, region in (regions or {}).items():
        if name in enrolled_ids:
            AnnotatorProfile.objects.update_or_create(
                annotator_id=enrolled_ids[name], defaults={"region_of_origin": region}
            )
    return enrolled_ids


def _pseudonyms(count: int) -> list[str]:
    """Return unused pseudonyms; with millions of annotators, random pseudonyms repeat."""
    pseudonyms: dict[str, None] = {}
    while len(pseudonyms) < count:
        candidates = list({new_pseudonym() for _ in range(count - len(pseudonyms))})
        for start in range(0, len(candidates), _BATCH):
            batch = candidates[start : start + _BATCH]
            used = set(Annotator.objects.filter(pseudonym__in=batch).values_list("pseudonym", flat=True))
            pseudonyms.update((pseudonym, None) for pseudonym in batch if pseudonym not in used)
    return list(pseudonyms)
