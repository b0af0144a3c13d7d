"""Practice before real tasks: a round over the campaign's practice tasks, with feedback after each answer.

Practice makes no annotations and never counts. Who passes the mark goes on to real tasks; who has used up the
attempts is paused, with the reason, until a lead lets them go on: that is another attempt.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.models import Annotator
from annotation.answers.references import reference, shown
from annotation.answers.validation import Answer
from annotation.assignment.eligibility import State
from annotation.assignment.leases import lock_enrolment
from annotation.models import Campaign, Enrolment, KnownAnswer, PracticeAnswer, PracticeRound, Task
from annotation.people import enrolments
from annotation.quality.practice.gate import (
    Practice,
    practice_of,
    practice_tasks,
    result,
    standing_answers,
)
from foundation.errors import Conflict, NotFound

# Kept with the enrolment and shown to annotator and lead; annotator pages translate it.
FAILED_REASON = "The practice was not passed."
_SLACK = 1e-9  # 0.7 × 10 is a little more than 7


@dataclass(frozen=True)
class Feedback:
    """One attribute of a practice task: what was answered beside what is right (None: it is not scored)."""

    ref: str
    text: str
    present: bool | None
    rating: int | None
    right_present: bool | None
    right_ratings: tuple[int, ...]
    explanation: str
    correct: bool | None

    @property
    def scored(self) -> bool:
        return self.correct is not None


@transaction.atomic
def next_task(*, campaign: Campaign, annotator: Annotator) -> Task | None:
    """Return the next task to practise, beginning a round if none runs; None when there is nothing to practise.

    Refuses whoever may not label, as `leases.next_assignment` does.
    """
    enrolment = _practising(campaign, annotator)
    # A task that was removed may have been the last of a round.
    practice = _end_if_whole(enrolment)
    if practice.state != State.OPEN:
        return None
    if practice.running is None:
        PracticeRound.objects.create(enrolment=enrolment, number=practice.begun + 1)
    left = _left(enrolment)
    return left[0] if left else None


@transaction.atomic
def answer(*, task: Task, annotator: Annotator, data: object) -> PracticeAnswer:
    """Keep an answer of the running round; the last one ends it. The same answer again changes nothing."""
    enrolment = _practising(task.campaign, annotator)
    latest = enrolment.practice_rounds.order_by("-number").first()
    if latest is None:
        raise Conflict("practice_not_begun", "Ask for a practice task first.")
    given = Answer.parse(data, task, boxes_required=False)
    before = latest.answers.filter(task=task).first()
    if before is not None:
        if before.answer != _stored(given):
            raise Conflict("practice_answered", "You answered this practice task before; go on to the next.")
        return before
    if latest.passed is not None:
        raise Conflict("practice_not_begun", "This practice round has ended; ask for a practice task first.")
    if task not in _left(enrolment):
        raise Conflict("practice_task_gone", "This practice task is no longer there; go on to the next.")
    known = list(task.known_answers.all())
    kept = PracticeAnswer.objects.create(
        round=latest,
        task=task,
        answer=_stored(given),
        correct=sum(_is_right(one, given) for one in known),
        scored=len(known),
    )
    _end_if_whole(enrolment)
    return kept


def feedback(kept: PracticeAnswer) -> list[Feedback]:
    """Return what was answered beside what is right, in the order shown."""
    known = {one.attribute_id: one for one in kept.task.known_answers.all()}
    given = _read(kept.answer)
    return [
        _feedback(one.ref, one.text, one.attribute_id, given, known.get(one.attribute_id))
        for one in shown(kept.task)
    ]


def own_task(user_id: int | None, public_id: UUID) -> Task:
    """Return a practice task of a campaign the person takes part in; any other does not exist for them."""
    found = (
        Task.objects.select_related("campaign", "image")
        .filter(
            public_id=public_id,
            purpose=Task.Purpose.PRACTICE,
            campaign__enrolments__annotator__user=user_id,
        )
        .first()
    )
    if found is None:
        raise NotFound("practice_task_not_found", "There is no such practice task of yours.")
    return found


def answered_before(enrolment: Enrolment, task: Task) -> PracticeAnswer | None:
    """Return what was answered to `task` in the latest round."""
    latest = enrolment.practice_rounds.order_by("-number").first()
    found = latest.answers.filter(task=task).select_related("round").first() if latest else None
    if found is not None:
        found.task = task
    return found


def latest_answers(enrolment: Enrolment) -> list[PracticeAnswer]:
    """Return the answers of the latest round in the order they were given."""
    latest = enrolment.practice_rounds.order_by("-number").first()
    return list(standing_answers(latest).select_related("task").order_by("pk")) if latest else []


def boxes_of(kept: PracticeAnswer) -> list[dict[str, Any]]:
    """Return the boxes that were drawn, with the names that attributes have within the task."""
    return [
        {**box, "attribute": reference(kept.task, box["attribute"])} for box in kept.answer.get("boxes", ())
    ]


def _practising(campaign: Campaign, annotator: Annotator) -> Enrolment:
    """Return the enrolment, locked, so that the annotator's requests come one after the other."""
    enrolment = lock_enrolment(campaign, annotator)
    if enrolment.campaign.state != Campaign.State.OPEN or enrolment.campaign.imported:
        state = enrolment.campaign.state
        raise Conflict("campaign_not_open", f"No tasks are given out: the campaign is {state}.")
    return enrolment


def _left(enrolment: Enrolment) -> list[Task]:
    answered = PracticeAnswer.objects.filter(round__enrolment=enrolment, round__passed=None)
    done = set(answered.values_list("task", flat=True))
    return [task for task in practice_tasks(enrolment.campaign_id) if task.pk not in done]


def _end_if_whole(enrolment: Enrolment) -> Practice:
    """End the running round once every task is answered, and return where the annotator stands."""
    practice = practice_of(enrolment)
    if practice.state != State.OPEN or practice.running is None or _left(enrolment):
        return practice
    running = enrolment.practice_rounds.get(passed=None)
    done = result(running)
    running.passed = done.correct >= practice.pass_mark * done.scored - _SLACK
    running.ended_at = timezone.now()
    running.save(update_fields=["passed", "ended_at"])
    if not running.passed and practice.left == 0:
        enrolments.pause(enrolment=enrolment, by=None, reason=FAILED_REASON)
        enrolment.state = Enrolment.State.PAUSED
    return practice_of(enrolment)


def _is_right(known: KnownAnswer, given: Answer) -> bool:
    if known.present is not None:
        return (known.attribute_id in given.ticked) == known.present
    return given.rating in known.ratings


def _feedback(ref: str, text: str, attribute: int, given: Answer, known: KnownAnswer | None) -> Feedback:
    return Feedback(
        ref=ref,
        text=text,
        present=attribute in given.ticked if given.rating is None else None,
        rating=given.rating,
        right_present=known.present if known else None,
        right_ratings=tuple(known.ratings) if known else (),
        explanation=known.explanation if known else "",
        correct=_is_right(known, given) if known else None,
    )


def _stored(given: Answer) -> dict[str, Any]:
    if given.rating is not None:
        return {"rating": given.rating, "justification": given.justification}
    return {
        "ticked": sorted(given.ticked),
        "boxes": [
            {"attribute": box.attribute_id, "x": box.x, "y": box.y, "width": box.width, "height": box.height}
            for box in given.boxes
        ],
        "none_of_the_above": bool(given.none_of_the_above),
    }


def _read(stored: Mapping[str, Any]) -> Answer:
    return Answer(ticked=frozenset(stored.get("ticked", ())), rating=stored.get("rating"))
