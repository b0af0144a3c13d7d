"""Checks on how somebody works: gold tasks and repeats, mixed in unseen among the tasks they are given.

A gold task's answer is known; a repeat is a task of their own once more, some tasks later. What they answer
there never counts as a label: it is the raw material of quality measures.

Which turns may bring a check follows from hashes, so that most turns cost nothing more. They come up twice as
often as the shares say; one that comes too early for its share brings an ordinary task. So everybody gets as many
checks as the shares say, at places nobody can foresee, and what is left can be told without telling them apart.
A check never comes between two screens of one image, where it would be known for what it is.
"""

from collections.abc import Collection, Iterator
from math import floor
from typing import Any, NamedTuple

from django.db.models import F

from annotation.assignment.selection import chance, screens_per_image
from annotation.models import Annotation, Assignment, Campaign, Judgement
from foundation.database.statements import rows

Status = Annotation.Status
Purpose = Assignment.Purpose
REPEAT_AFTER = 10  # unless the campaign's option `repeat_after` says otherwise
_SHARES = {Purpose.GOLD: "gold_share", Purpose.REPEAT: "repeat_share"}
_OFTEN = 2.0

# Skipped ones too; one whose lease ran out may still come back.
_GIVEN = """
    SELECT a.purpose, COUNT(*) FROM annotation_assignment a JOIN annotation_task t ON t.id = a.task_id
    WHERE a.annotator_id = %(annotator)s AND t.campaign_id = %(campaign)s AND a.state <> 'expired'
    GROUP BY a.purpose
"""
_NEW_GOLD = """
    SELECT t.id, t.sensitive FROM annotation_task t
    WHERE t.campaign_id = %(campaign)s AND t.purpose = 'gold' AND NOT t.withdrawn
      AND NOT EXISTS (SELECT 1 FROM annotation_assignment m
                      WHERE m.task_id = t.id AND m.annotator_id = %(annotator)s AND m.state <> 'expired')
    ORDER BY t.id LIMIT 1000
"""
# The latest answers are too fresh; of the others the oldest thousand are enough to choose from.
_OLD_ANSWERS = """
    SELECT t.id, t.sensitive
    FROM (SELECT a.task_id, a.purpose
          FROM annotation_assignment a JOIN annotation_task s ON s.id = a.task_id
          WHERE a.annotator_id = %(annotator)s AND s.campaign_id = %(campaign)s
            AND a.state IN ('submitted', 'surplus')
          ORDER BY a.ended_at DESC, a.id DESC LIMIT 1000000 OFFSET %(after)s) r
    JOIN annotation_task t ON t.id = r.task_id
    WHERE r.purpose = 'label' AND NOT t.withdrawn
      AND NOT EXISTS (SELECT 1 FROM annotation_assignment m WHERE m.task_id = t.id
                      AND m.annotator_id = %(annotator)s AND m.purpose = 'repeat' AND m.state <> 'expired')
    ORDER BY t.id LIMIT 1000
"""
_FITTING = {Purpose.GOLD: _NEW_GOLD, Purpose.REPEAT: _OLD_ANSWERS}


class Check(NamedTuple):
    """A task to give as a gold task or a repeat."""

    task_id: int
    purpose: Purpose


class GoldAnswer(NamedTuple):
    """The answer about one attribute of a gold task, beside what is right."""

    annotator_id: int
    attribute_id: int
    task_id: int
    correct: bool


class RepeatPair(NamedTuple):
    """What somebody answered about one attribute the first time and again: ticked or not, or a rating."""

    annotator_id: int
    task_id: int
    attribute_id: int
    first: bool | int
    second: bool | int


def gold_answers(campaign: Campaign, annotators: Collection[int] | None = None) -> Iterator[GoldAnswer]:
    """Yield the scored answers to gold tasks, of these annotators or all: by annotator, in the order they came.

    Scored are the attributes with a known answer, as it is now; nothing of a retracted image. One query.
    """
    judged = Judgement.objects.filter(
        annotation__campaign=campaign,
        annotation__status=Status.GOLD,
        annotation__is_latest=True,
        annotation__task__withdrawn=False,
        annotation__task__known_answers__attribute=F("attribute"),
    )
    if annotators is not None:
        judged = judged.filter(annotation__annotator__in=annotators)
    known = "annotation__task__known_answers__"
    found = judged.order_by("annotation__annotator", "annotation", "pk").values_list(
        *("annotation__annotator", "attribute", "annotation__task"),
        *("present", "rating", f"{known}present", f"{known}ratings"),
    )
    for annotator_id, attribute_id, task_id, present, rating, right, ratings in found:
        correct = present == right if right is not None else rating in ratings
        yield GoldAnswer(annotator_id, attribute_id, task_id, correct)


def repeat_pairs(campaign: Campaign, annotators: Collection[int] | None = None) -> Iterator[RepeatPair]:
    """Yield what these annotators, or all, answered twice: by annotator, in the order the repeats came.

    Nothing of a retracted image. One query.
    """
    judged = Judgement.objects.filter(
        annotation__campaign=campaign,
        annotation__status=Status.REPEAT,
        annotation__is_latest=True,
        annotation__task__withdrawn=False,
        annotation__task__annotations__annotator=F("annotation__annotator"),
        annotation__task__annotations__assignment__purpose=Purpose.LABEL,
        annotation__task__annotations__is_latest=True,
        annotation__task__annotations__judgements__attribute=F("attribute"),
    )
    if annotators is not None:
        judged = judged.filter(annotation__annotator__in=annotators)
    first = "annotation__task__annotations__judgements__"
    found = judged.order_by("annotation__annotator", "annotation", "pk").values_list(
        *("annotation__annotator", "annotation__task", "attribute"),
        *(f"{first}present", f"{first}rating", "present", "rating"),
    )
    for annotator_id, task_id, attribute_id, ticked, rated, again_ticked, again_rated in found:
        yield RepeatPair(
            annotator_id,
            task_id,
            attribute_id,
            rated if ticked is None else ticked,
            again_rated if again_ticked is None else again_ticked,
        )


def turn_of(task_id: int, purpose: str) -> int:
    """Return what the next draw depends on besides campaign and annotator: a task comes twice when it is repeated."""
    return -task_id if purpose == Purpose.REPEAT else task_id


def drawn(campaign: Campaign, annotator_id: int, turn: int) -> tuple[Purpose, ...]:
    """Return which checks the turn may bring: hashes only, none where the campaign asks for no checks."""
    return tuple(
        purpose
        for purpose, share in _shares(campaign).items()
        # Only one turn in so many as an image has screens begins an image.
        if share
        and chance(campaign, annotator_id, f"{turn}:{purpose}") < _OFTEN * share * screens_per_image(campaign)
    )


def fitting(
    purposes: tuple[Purpose, ...], campaign: Campaign, annotator_id: int, *, turn: int, calm: bool = False
) -> Check | None:
    """Return a check of one of the purposes drawn; None when it is too early for each or none is to be had.

    `calm`: none that is sensitive. Nothing is locked: whoever leases it holds the annotator's enrolment.
    """
    if not purposes:
        return None
    asked = _asked(campaign, annotator_id)
    given = dict(rows(_GIVEN, asked))
    for purpose in purposes:
        if given.get(purpose, 0) >= _due(campaign, annotator_id, purpose, sum(given.values()) + 1):
            continue
        found = [pk for pk, sensitive in rows(_FITTING[purpose], asked) if not (calm and sensitive)]
        if found:
            place = chance(campaign, annotator_id, f"{turn}:{purpose}:which")
            return Check(found[int(place * len(found))], purpose)
    return None


def expected(campaign: Campaign, annotator_id: int, left: int) -> int:
    """Return how many checks will come among the `left` ordinary tasks that are open for the annotator.

    Every answer takes one off the sum of both, whichever it was of; without ordinary tasks nothing comes.
    """
    shares = _shares(campaign)
    if not left or not any(shares.values()):
        return 0
    asked = _asked(campaign, annotator_id)
    given = dict(rows(_GIVEN, asked))
    golds = given.get(Purpose.GOLD, 0) + (len(rows(_NEW_GOLD, asked)) if shares[Purpose.GOLD] else 0)
    planned = _planned(campaign, annotator_id, given.get(Purpose.LABEL, 0) + left, golds)
    return sum(max(0, number - given.get(purpose, 0)) for purpose, number in planned.items())


def at_most(campaign: Campaign, tasks: int) -> int:
    """Return how many tasks anybody answers, with all checks, who answers so many ordinary ones."""
    if not any(_shares(campaign).values()):
        return tasks
    golds = campaign.tasks.filter(purpose=Purpose.GOLD, withdrawn=False).count()
    return tasks + sum(_planned(campaign, None, tasks, golds).values())


def _planned(campaign: Campaign, annotator_id: int | None, ordinary: int, golds: int) -> dict[Purpose, int]:
    """Return how many checks of each kind go with so many ordinary tasks, of `golds` there are; for None at most.

    Never fewer than come: checks are a share of all tasks, themselves among these, so they are added until it fits.
    """
    planned = {Purpose.GOLD: 0, Purpose.REPEAT: 0}
    while True:
        tasks = ordinary + sum(planned.values())
        old = max(0, min(ordinary - 1, tasks - 1 - _after(campaign)))
        more = {
            purpose: min(most, _due(campaign, annotator_id, purpose, tasks))
            for purpose, most in ((Purpose.GOLD, golds), (Purpose.REPEAT, old))
        }
        if more == planned:
            return planned
        planned = more


def _shares(campaign: Campaign) -> dict[Purpose, float]:
    return {purpose: campaign.options.get(option) or 0.0 for purpose, option in _SHARES.items()}


def _asked(campaign: Campaign, annotator_id: int) -> dict[str, Any]:
    return {"campaign": campaign.pk, "annotator": annotator_id, "after": _after(campaign)}


def _after(campaign: Campaign) -> int:
    return int(campaign.options.get("repeat_after") or REPEAT_AFTER)


def _due(campaign: Campaign, annotator_id: int | None, purpose: Purpose, tasks: int) -> int:
    """Return how many checks of a kind are due among so many tasks: their share, begun anywhere."""
    share = _shares(campaign)[purpose]
    if not share:
        return 0
    start = 1.0 if annotator_id is None else chance(campaign, annotator_id, f"{purpose}:first")
    return floor(share * tasks + start)
