"""Checks on an annotator's work: gold tasks and repeats, mixed into their tasks without notice.

A gold task has a known answer; a repeat is one of the annotator's own tasks again, some tasks later. Their answers to
checks never count as labels; quality measures are computed from them.

Hashes decide which turns may have a check, so most turns cost nothing more. Such turns occur twice as often as the
shares require; a turn that is too early for its share gets an ordinary task. So everybody gets the number of checks
that the shares require, nobody can foresee when, and the number of tasks left can be shown without revealing checks. A
check never comes between two screens of one image, where it would be recognised.
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
REPEAT_AFTER = 10  # default of the campaign's option `repeat_after`
_SHARES = {Purpose.GOLD: "gold_share", Purpose.REPEAT: "repeat_share"}
_OFTEN = 2.0

_FITTING = {Purpose.GOLD: sql.NEW_GOLD, Purpose.REPEAT: sql.OLD_ANSWERS}


class Check(NamedTuple):
    """A task to give as a gold task or a repeat."""

    task_id: int
    purpose: Purpose


class GoldAnswer(NamedTuple):
    """The answer about one attribute of a gold task, with the right answer."""

    annotator_id: int
    attribute_id: int
    task_id: int
    correct: bool


class RepeatPair(NamedTuple):
    """Two answers of one person about one attribute, the first and the repeated one: ticked or not, or a rating."""

    annotator_id: int
    task_id: int
    attribute_id: int
    first: bool | int
    second: bool | int


def gold_answers(campaign: Campaign, annotators: Collection[int] | None = None) -> Iterator[GoldAnswer]:
    """Yield the scored answers to gold tasks, of these annotators or all: by annotator, in order of submission.

    Attributes with a known answer are scored by the present known answer, without retracted images. One query.
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
    """Yield repeated answers of these annotators, or of all: by annotator, in order of the repeats.

    Retracted images are left out. One query.
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
    """Return the part of the next draw's key besides campaign and annotator: a repeated task occurs twice."""
    return -task_id if purpose == Purpose.REPEAT else task_id


def drawn(campaign: Campaign, annotator_id: int, turn: int) -> tuple[Purpose, ...]:
    """Return the checks that the turn may have, from hashes only; none if the campaign has no checks."""
    return tuple(
        purpose
        for purpose, share in _shares(campaign).items()
        # Only one turn in the number of an image's screens begins an image.
        if share
        and chance(campaign, annotator_id, f"{turn}:{purpose}") < _OFTEN * share * screens_per_image(campaign)
    )


def fitting(
    purposes: tuple[Purpose, ...], campaign: Campaign, annotator_id: int, *, turn: int, calm: bool = False
) -> Check | None:
    """Return a check of one of the drawn purposes; None if it is too early for each or there is none.

    `calm`: no sensitive check. Nothing is locked: the caller that leases it has locked the annotator's enrolment.
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

    Every answer, to a check or a task, reduces the sum of both by one; without ordinary tasks there are no checks.
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
    """Return the total number of tasks, including checks, for a number of ordinary tasks."""
    if not any(_shares(campaign).values()):
        return tasks
    golds = campaign.tasks.filter(purpose=Purpose.GOLD, withdrawn=False).count()
    return tasks + sum(_planned(campaign, None, tasks, golds).values())


def _planned(campaign: Campaign, annotator_id: int | None, ordinary: int, golds: int) -> dict[Purpose, int]:
    """Return the number of checks of each kind for a number of ordinary tasks, with `golds` gold tasks; for None the
    maximum.

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
    """Return the number of checks of a kind that are due among a number of tasks, by their share."""
    share = _shares(campaign)[purpose]
    if not share:
        return 0
    start = 1.0 if annotator_id is None else chance(campaign, annotator_id, f"{purpose}:first")
    return floor(share * tasks + start)
