"""Which open task an annotator is given: two or three index reads, however large the campaign.

First the images they have begun; then the tasks with the fewest annotations, from a place drawn anew for each
task. With quotas, only tasks whose mix (`quotas`) lets the annotator in. Nothing is locked here: a
choice is claimed by a conditional UPDATE that fails if somebody else was quicker.
"""

# ruff: noqa: S608 -- the queries are put together from constants of this module; values are parameters

import hashlib
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from django.db.models import Count

from annotation.assignment.quota_rules import CampaignQuotas
from annotation.assignment.quotas import Profile
from annotation.models import Campaign, Task
from foundation.database.statements import rows

# How many of an annotator's latest tasks are looked at for an image to go on with.
_RECENT = 20

_OPEN = "t.campaign_id = %(campaign)s AND t.held < t.wanted AND NOT t.withdrawn"
# A task whose lease ran out may come back to the same annotator.
_NOT_MINE = (
    "NOT EXISTS (SELECT 1 FROM annotation_assignment m"
    " WHERE m.task_id = t.id AND m.annotator_id = %(annotator)s AND m.state <> 'expired')"
)


def _from_a_place(tasks: str, among: str) -> str:
    """Return the query for the first of `tasks` `among` those alike, from a place between the ends of their ids.

    The ends are two reads of the index; MIN and MAX together would read all of it on PostgreSQL 15.
    """
    alike = f"{tasks} AND {among}"
    low, high = (
        f"(SELECT t.id FROM annotation_task t WHERE {alike} ORDER BY t.id {way} LIMIT 1)"
        for way in ("ASC", "DESC")
    )
    start = f"(SELECT {low} + CAST(FLOOR(%(place)s * ({high} - {low} + 1)) AS bigint))"
    onwards = f"SELECT t.id FROM annotation_task t WHERE {alike} AND {_NOT_MINE}"
    return f"""
        SELECT t.id, t.held, t.quota_mix FROM annotation_task t
        WHERE t.id = COALESCE(({onwards} AND t.id >= {start} ORDER BY t.id LIMIT 1),
                              ({onwards} ORDER BY t.id LIMIT 1))
    """


class _Queries:
    """The statements that look among `tasks`, a condition on open ones."""

    def __init__(self, tasks: str) -> None:
        # A gold task or a repeat begins no image.
        self.begun = f"""
            SELECT t.id, t.held, t.quota_mix
            FROM (SELECT a.id, s.image_id
                  FROM annotation_assignment a JOIN annotation_task s ON s.id = a.task_id
                  WHERE a.annotator_id = %(annotator)s AND a.purpose = 'label' AND s.campaign_id = %(campaign)s
                  ORDER BY a.id DESC LIMIT {_RECENT}) r
            JOIN annotation_task t ON t.image_id = r.image_id
            WHERE {tasks} AND {_NOT_MINE}
            GROUP BY t.id, t.held, t.quota_mix, t.screen
            ORDER BY MAX(r.id) DESC, t.screen, t.id
        """
        self.level = f"SELECT t.held FROM annotation_task t WHERE {tasks} AND {_NOT_MINE} ORDER BY t.held, t.id LIMIT 1"
        self.mixes = f"""
            WITH RECURSIVE seen(mix) AS (
                SELECT (SELECT t.quota_mix FROM annotation_task t WHERE {tasks} AND t.quota_mix > ''
                        ORDER BY t.quota_mix LIMIT 1)
                UNION ALL
                SELECT (SELECT t.quota_mix FROM annotation_task t WHERE {tasks} AND t.quota_mix > ''
                        AND t.quota_mix > seen.mix ORDER BY t.quota_mix LIMIT 1)
                FROM seen WHERE seen.mix IS NOT NULL)
            SELECT mix FROM seen WHERE mix IS NOT NULL
        """
        self.least_covered = _from_a_place(tasks, "t.held = %(held)s")
        self.of_mix = _from_a_place(tasks, "t.quota_mix > '' AND t.quota_mix = %(mix)s")
        # Of a mix too long to tell who may join, each task has to be tried.
        self.all_of_mix = f"""
            SELECT t.id, t.held, t.quota_mix FROM annotation_task t
            WHERE {tasks} AND t.quota_mix > '' AND t.quota_mix = %(mix)s AND {_NOT_MINE}
            ORDER BY t.id LIMIT 500
        """


_ANY = _Queries(_OPEN)
# For who saw as many sensitive ones as a day may bring.
_CALM = _Queries(f"{_OPEN} AND NOT t.sensitive")


class Choice(NamedTuple):
    """An open task as it was when it was chosen."""

    task_id: int
    held: int
    mix: str
    goes_on: bool = False  # a further screen of an image they have begun


def choices(
    campaign: Campaign,
    annotator_id: int,
    quotas: CampaignQuotas | None,
    profile: Profile,
    *,
    turn: int,
    calm: bool = False,
) -> Iterator[Choice]:
    """Yield tasks for the annotator, the best first; none when no task is open for them. `calm`: none sensitive."""
    queries = _CALM if calm else _ANY
    asked: dict[str, Any] = {"campaign": campaign.pk, "annotator": annotator_id}
    for row in rows(queries.begun, asked) if screens_per_image(campaign) > 1 else ():
        choice = Choice(row[0], row[1], row[2], goes_on=True)
        if quotas is None or quotas.allows(choice.mix, profile):
            yield choice
            break
    place = chance(campaign, annotator_id, turn)
    # Between two reads somebody may take a place, and what the first one promised is there no more: look again.
    if quotas is None:
        found: list[Choice] = []
        while not found and (level := rows(queries.level, asked)):
            found = _one(queries.least_covered, {**asked, "held": level[0][0], "place": place})
        yield from found
        return
    tried, before = False, list[str]()
    while not tried and (mixes := open_mixes(campaign, quotas, profile, place, calm=calm)) not in (
        [],
        before,
    ):
        for mix in mixes:
            query = queries.all_of_mix if mix.startswith("?") else queries.of_mix
            for choice in _one(query, {**asked, "mix": mix, "place": place}):
                tried = True
                yield choice
        before = mixes


def screens_per_image(campaign: Campaign) -> float:
    """Return on how many screens an image is asked about, on average: fixed when the campaign opens."""
    return _screens_per_image(campaign.pk, campaign.seed, campaign.opened_at)


@lru_cache(maxsize=1000)
def _screens_per_image(campaign_id: int, seed: int, opened_at: datetime | None) -> float:  # noqa: ARG001
    # Seed and moment are part of the key, since the number of a deleted campaign may be given again.
    labels = Task.objects.filter(campaign=campaign_id, purpose=Task.Purpose.LABEL, image__isnull=False)
    found = labels.aggregate(screens=Count("pk"), images=Count("image", distinct=True))
    return found["screens"] / found["images"] if found["images"] else 1.0


def open_mixes(
    campaign: Campaign, quotas: CampaignQuotas, profile: Profile, place: float = 0.0, *, calm: bool = False
) -> list[str]:
    """Return the mixes of open tasks that let somebody of this profile in, those with fewest people first."""
    found = rows((_CALM if calm else _ANY).mixes, {"campaign": campaign.pk})
    mixes = [mix for (mix,) in found if quotas.allows(mix, profile)]
    return sorted(mixes, key=lambda mix: (_people(mix), hashlib.sha256(f"{place}{mix}".encode()).digest()))


def _people(mix: str) -> int:
    written = mix.split("/", 2)[-1]
    return len(written.split(" ")) if written and not mix.startswith("?") else 0


def _one(query: str, asked: dict[str, Any]) -> list[Choice]:
    return [Choice(*row) for row in rows(query, asked)]


def chance(campaign: Campaign, annotator_id: int, turn: int | str) -> float:
    """Return a number from 0 to below 1 that follows from the campaign's seed, the annotator and their turn."""
    digest = hashlib.sha256(f"{campaign.seed}:{annotator_id}:{turn}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48
