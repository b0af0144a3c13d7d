"""Checks on an annotator's work: gold tasks and repeats, mixed into their tasks without notice.

A gold task has a known answer; a repeat is one of the annotator's own tasks again, some tasks later. Their answers to
checks never count as labels; quality measures are computed from them.

Hashes decide which turns may bring a check, so most turns cost nothing more. Such turns come up twice as often as the
shares say; one that is too early for its share brings an ordinary task. So everybody gets as many checks as the shares
say, nobody can foresee when, and the number of tasks left can be shown without revealing checks.
A check never comes between two screens of one image, where it would be recognised.
"""

from collections.abc import Collection, Iterator
from math import floor
from typing import Any, NamedTuple

from django.db.models import F

from annotation.assignment import sql
from annotation.assignment.selection import chance, screens_per_image
from annotation.models import Annotation, Assignment, Campaign, Judgement
from foundation.database.statements import rows

Status = Annotation.Status
Purpose = Assignment.Purpose
REPEAT_AFTER = 10  # unless the campaign's option `repeat_after` says otherwise
_SHARES = {Purpose.GOLD: "gold_share", Purpose.REPEAT: "repeat_share"}
_OFTEN = 2.0

_FITTING = {Purpose.GOLD: sql.NEW_GOLD, Purpose.REPEAT: sql.OLD_ANSWERS}


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
    known_answer = "annotation__task__known_answers__"
    judgement_rows = judged.order_by("annotation__annotator", "annotation", "pk").values_list(
        *("annotation__annotator", "attribute", "annotation__task"),
        *("present", "rating", f"{known_answer}present", f"{known_answer}ratings"),
    )
    for annotator_id, attribute_id, task_id, present, rating, right, ratings in judgement_rows:
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
    first_judgement = "annotation__task__annotations__judgements__"
    judgement_rows = judged.order_by("annotation__annotator", "annotation", "pk").values_list(
        *("annotation__annotator", "annotation__task", "attribute"),
        *(f"{first_judgement}present", f"{first_judgement}rating", "present", "rating"),
    )
    for annotator_id, task_id, attribute_id, ticked, rated, again_ticked, again_rated in judgement_rows:
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

    `calm`: none that is sensitive. Nothing is locked: the caller that leases it holds the annotator's enrolment.
    """
    if not purposes:
        return None
    parameters = _parameters(campaign, annotator_id)
    given_counts = dict(rows(sql.COUNT_GIVEN, parameters))
    for purpose in purposes:
        if given_counts.get(purpose, 0) >= _due(
            campaign, annotator_id, purpose, sum(given_counts.values()) + 1
        ):
            continue
        task_ids = [pk for pk, sensitive in rows(_FITTING[purpose], parameters) if not (calm and sensitive)]
        if task_ids:
            place = chance(campaign, annotator_id, f"{turn}:{purpose}:which")
            return Check(task_ids[int(place * len(task_ids))], purpose)
    return None


def expected(campaign: Campaign, annotator_id: int, open_count: int) -> int:
    """Return how many checks will come among the `open_count` ordinary tasks that are open for the annotator.

    Every answer reduces the sum of both by one, whether to a check or a task; without ordinary tasks no check comes.
    """
    shares = _shares(campaign)
    if not open_count or not any(shares.values()):
        return 0
    parameters = _parameters(campaign, annotator_id)
    given_counts = dict(rows(sql.COUNT_GIVEN, parameters))
    golds = given_counts.get(Purpose.GOLD, 0) + (
        len(rows(sql.NEW_GOLD, parameters)) if shares[Purpose.GOLD] else 0
    )
    planned = _planned(campaign, annotator_id, given_counts.get(Purpose.LABEL, 0) + open_count, golds)
    return sum(max(0, number - given_counts.get(purpose, 0)) for purpose, number in planned.items())


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


def _parameters(campaign: Campaign, annotator_id: int) -> dict[str, Any]:
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
