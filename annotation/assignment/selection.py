"""Choosing an open task for an annotator: two or three index reads for campaigns of any size.

Images that the annotator has begun come first, then the tasks with the fewest annotations, from a random position for
each task. With quotas, only tasks whose mix (`quotas`) admits the annotator. Nothing is locked here: a conditional
UPDATE claims the choice and fails if somebody else was faster.
"""

import hashlib
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from django.db.models import Count

from annotation.assignment import sql
from annotation.assignment.campaign_quotas import CampaignQuotas
from annotation.assignment.quotas import Profile
from annotation.models import Campaign, Task
from foundation.database.statements import rows


class Choice(NamedTuple):
    """An open task at the moment when it was chosen."""

    task_id: int
    held: int
    mix: str
    continues_image: bool = False  # a further screen of an image they have begun


def choices(
    campaign: Campaign,
    annotator_id: int,
    quotas: CampaignQuotas | None,
    profile: Profile,
    *,
    turn: int,
    calm: bool = False,
) -> Iterator[Choice]:
    """Yield tasks for the annotator, the best first; none if no task is open for them. `calm`: no sensitive tasks."""
    queries = sql.CALM_TASK if calm else sql.ANY_TASK
    parameters: dict[str, Any] = {"campaign": campaign.pk, "annotator": annotator_id}
    for row in rows(queries.begun, parameters) if screens_per_image(campaign) > 1 else ():
        choice = Choice(row[0], row[1], row[2], continues_image=True)
        if quotas is None or quotas.allows(choice.mix, profile):
            yield choice
            break
    place = chance(campaign, annotator_id, turn)
    # Between two reads somebody may take a place, so that the result of the first is no longer valid: look again.
    if quotas is None:
        least_covered: list[Choice] = []
        while not least_covered and (level := rows(queries.level, parameters)):
            least_covered = _matching_choices(
                queries.least_covered, {**parameters, "held": level[0][0], "place": place}
            )
        yield from least_covered
        return
    tried, before = False, list[str]()
    while not tried and (mixes := open_mixes(campaign, quotas, profile, place, calm=calm)) not in (
        [],
        before,
    ):
        for mix in mixes:
            query = queries.all_of_mix if mix.startswith("?") else queries.of_mix
            for choice in _matching_choices(query, {**parameters, "mix": mix, "place": place}):
                tried = True
                yield choice
        before = mixes


def screens_per_image(campaign: Campaign) -> float:
    """Return on how many screens an image is asked about, on average: fixed when the campaign opens."""
    return _screens_per_image(campaign.pk, campaign.seed, campaign.opened_at)


@lru_cache(maxsize=1000)
def _screens_per_image(campaign_id: int, seed: int, opened_at: datetime | None) -> float:  # noqa: ARG001
    # Seed and time are part of the key, because the number of a deleted campaign may be reused.
    labels = Task.objects.filter(campaign=campaign_id, purpose=Task.Purpose.LABEL, image__isnull=False)
    totals = labels.aggregate(screens=Count("pk"), images=Count("image", distinct=True))
    return totals["screens"] / totals["images"] if totals["images"] else 1.0


def open_mixes(
    campaign: Campaign, quotas: CampaignQuotas, profile: Profile, place: float = 0.0, *, calm: bool = False
) -> list[str]:
    """Return the mixes of open tasks that admit this profile, those with the fewest people first."""
    mix_rows = rows((sql.CALM_TASK if calm else sql.ANY_TASK).mixes, {"campaign": campaign.pk})
    mixes = [mix for (mix,) in mix_rows if quotas.allows(mix, profile)]
    return sorted(mixes, key=lambda mix: (_people(mix), hashlib.sha256(f"{place}{mix}".encode()).digest()))


def _people(mix: str) -> int:
    written = mix.split("/", 2)[-1]
    return len(written.split(" ")) if written and not mix.startswith("?") else 0


def _matching_choices(query: str, parameters: dict[str, Any]) -> list[Choice]:
    return [Choice(*row) for row in rows(query, parameters)]


def chance(campaign: Campaign, annotator_id: int, turn: int | str) -> float:
    """Return a number from 0 to below 1 that follows from the campaign's seed, the annotator and their turn."""
    digest = hashlib.sha256(f"{campaign.seed}:{annotator_id}:{turn}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48
