"""Practice before real tasks: rounds over the campaign's practice tasks, with feedback after each answer.

Practice makes no annotations and never counts. An annotator who reaches the pass mark continues with real tasks; one
who has used all attempts is paused until a lead resumes them, which gives another attempt.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.models import Annotator
from annotation.answers.attribute_references import reference, shown_attributes
from annotation.answers.languages import SOURCE_LANGUAGE, in_reader_language, page_language
from annotation.answers.questions.known_answers import Part, part_of, parts_of, value_at, verdicts
from annotation.answers.questions.stimuli import screen_questions
from annotation.answers.validation import Answer
from annotation.assignment.eligibility import State
from annotation.assignment.leases import lock_enrolment
from annotation.campaigns.instruments import versions
from annotation.campaigns.instruments.languages.sources import attribute_key, explanation_key
from annotation.kinds.questions import Question
from annotation.kinds.registry import kind_of
from annotation.models import (
    Campaign,
    Enrolment,
    Instrument,
    KnownAnswer,
    PracticeAnswer,
    PracticeRound,
    Task,
)
from annotation.people import enrolments
from annotation.quality.practice.progress import (
    Practice,
    practice_of,
    practice_tasks,
    result,
    standing_answers,
)
from foundation.errors import Conflict, NotFound

# Kept with the enrolment and shown to annotator and lead; annotator pages translate it.
FAILED_REASON = "You did not pass the practice."
_SLACK = 1e-9  # 0.7 × 10 is a little more than 7


@dataclass(frozen=True)
class QuestionFeedback:
    """The answer to one question (about one stimulus, `ref`) of a practice task, in the format of clients.

    `accepted` has the right answers (`annotation.answers.questions.known_answers`), empty if it is not scored.
    """

    question: Question
    ref: str
    given: Any
    accepted: tuple[int | str, ...]
    explanation: str
    correct: bool | None

    @property
    def scored(self) -> bool:
        return self.correct is not None


@dataclass(frozen=True)
class Feedback:
    """The answer to one attribute of a practice task, and the right one (None: not scored)."""

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
    """Return the next practice task, starting a round if none is running; None if there is nothing to practise.

    Raises the same errors as `leases.next_assignment` for annotators who may not label.
    """
    enrolment = _practising(campaign, annotator)
    # A task that was removed may have been the last of a round.
    practice = _end_if_complete(enrolment)
    if practice.state != State.OPEN:
        return None
    if practice.running is None:
        PracticeRound.objects.create(enrolment=enrolment, number=practice.begun + 1)
    open_tasks = _unanswered(enrolment)
    return open_tasks[0] if open_tasks else None


@transaction.atomic
def answer(*, task: Task, annotator: Annotator, data: object) -> PracticeAnswer:
    """Save an answer of the running round; the last one ends it. The same answer again changes nothing."""
    enrolment = _practising(task.campaign, annotator)
    latest = enrolment.practice_rounds.order_by("-number").first()
    if latest is None:
        raise Conflict("practice_not_begun", "Ask for a practice task first.")
    parsed = Answer.parse(data, task, boxes_required=False)
    earlier_answer = latest.answers.filter(task=task).first()
    if earlier_answer is not None:
        if earlier_answer.answer != _stored(task, parsed):
            raise Conflict(
                "practice_answered", "You have already answered this practice task. Go on to the next task."
            )
        return earlier_answer
    if latest.passed is not None:
        raise Conflict("practice_not_begun", "This practice round has ended; ask for a practice task first.")
    if task not in _unanswered(enrolment):
        raise Conflict("practice_task_gone", "This practice task no longer exists. Go on to the next task.")
    stored = _stored(task, parsed)
    right = _verdicts(task, parsed, stored)
    practice_answer = PracticeAnswer.objects.create(
        round=latest, task=task, answer=stored, correct=sum(right), scored=len(right)
    )
    _end_if_complete(enrolment)
    return practice_answer


def feedback(practice_answer: PracticeAnswer) -> list[Feedback]:
    """Return the answers and the right answers, in the order shown."""
    known_answers = {row.attribute_id or 0: row for row in practice_answer.task.known_answers.all()}
    parsed = _read(practice_answer.answer)
    wording = _wording(practice_answer.task)
    feedbacks = [
        _feedback(attribute.ref, attribute.text, attribute.attribute_id, parsed, known_answers)
        for attribute in shown_attributes(practice_answer.task)
    ]
    return [
        replace(
            verdict,
            text=in_reader_language(wording, attribute_key(attribute.attribute_id), verdict.text),
            explanation=in_reader_language(
                wording, explanation_key(verdict.explanation), verdict.explanation
            ),
        )
        for verdict, attribute in zip(feedbacks, shown_attributes(practice_answer.task), strict=True)
    ]


def _wording(task: Task) -> Instrument | None:
    """Return the object with the translations of the campaign's texts; None if the page has their language."""
    return None if page_language() == SOURCE_LANGUAGE else versions.current(task.campaign)


def question_feedback(practice_answer: PracticeAnswer) -> list[QuestionFeedback]:
    """Return the answers to declared questions and the right answers, in the order asked, without texts."""
    task, answers = practice_answer.task, practice_answer.answer["answers"]
    kind, refs = kind_of(task.campaign), screen_questions(task).refs
    known = _known_parts(task)
    right = dict(verdicts(kind, refs, known, answers))
    wording = _wording(task)
    explanations = {
        part: in_reader_language(wording, explanation_key(row.explanation), row.explanation)
        for part, row in known.items()
    }
    return [
        QuestionFeedback(
            question=kind.question(part.question),
            ref=part.ref,
            given=value,
            accepted=tuple(known[part].accepted) if part in right else (),
            explanation=explanations[part] if part in right else "",
            correct=right.get(part),
        )
        for part in parts_of(kind, refs)
        if (value := value_at(kind, part, answers)) is not None or part in right
    ]


def own_task(user_id: int | None, public_id: UUID) -> Task:
    """Return a practice task of a campaign the user takes part in; raises NotFound for any other."""
    task = (
        Task.objects.select_related("campaign", "image")
        .filter(
            public_id=public_id,
            purpose=Task.Purpose.PRACTICE,
            campaign__enrolments__annotator__user=user_id,
        )
        .first()
    )
    if task is None:
        raise NotFound("practice_task_not_found", "This practice task is not yours.")
    return task


def answered_before(enrolment: Enrolment, task: Task) -> PracticeAnswer | None:
    """Return the answer to `task` in the latest round."""
    latest = enrolment.practice_rounds.order_by("-number").first()
    earlier_answer = latest.answers.filter(task=task).select_related("round").first() if latest else None
    if earlier_answer is not None:
        earlier_answer.task = task
    return earlier_answer


def latest_answers(enrolment: Enrolment) -> list[PracticeAnswer]:
    """Return the answers of the latest round in order of submission."""
    latest = enrolment.practice_rounds.order_by("-number").first()
    return list(standing_answers(latest).select_related("task").order_by("pk")) if latest else []


def boxes_of(practice_answer: PracticeAnswer) -> list[dict[str, Any]]:
    """Return the drawn boxes, with attributes by their references within the task."""
    return [
        {**box, "attribute": reference(practice_answer.task, box["attribute"])}
        for box in practice_answer.answer.get("boxes", ())
    ]


def _practising(campaign: Campaign, annotator: Annotator) -> Enrolment:
    """Return the enrolment, locked so that the annotator's requests run one after another."""
    enrolment = lock_enrolment(campaign, annotator)
    if enrolment.campaign.state != Campaign.State.OPEN or enrolment.campaign.imported:
        state = enrolment.campaign.state
        raise Conflict("campaign_not_open", f"No tasks are given out: the campaign is {state}.")
    return enrolment


def _unanswered(enrolment: Enrolment) -> list[Task]:
    answered = PracticeAnswer.objects.filter(round__enrolment=enrolment, round__passed=None)
    answered_ids = set(answered.values_list("task", flat=True))
    return [task for task in practice_tasks(enrolment.campaign_id) if task.pk not in answered_ids]


def _end_if_complete(enrolment: Enrolment) -> Practice:
    """End the running round once every task is answered; return the annotator's practice."""
    practice = practice_of(enrolment)
    if practice.state != State.OPEN or practice.running is None or _unanswered(enrolment):
        return practice
    running = enrolment.practice_rounds.get(passed=None)
    totals = result(running)
    running.passed = totals.correct >= practice.pass_mark * totals.scored - _SLACK
    running.ended_at = timezone.now()
    running.save(update_fields=["passed", "ended_at"])
    if not running.passed and practice.left == 0:
        enrolments.pause(enrolment=enrolment, by=None, reason=FAILED_REASON)
        enrolment.state = Enrolment.State.PAUSED
    return practice_of(enrolment)


def _verdicts(task: Task, parsed: Answer, stored: Mapping[str, Any]) -> list[bool]:
    """Return whether each answer that is scored is right."""
    if parsed.questions is None:
        return [_is_right(known_answer, parsed) for known_answer in task.known_answers.all()]
    kind, refs = kind_of(task.campaign), screen_questions(task).refs
    return [right for _, right in verdicts(kind, refs, _known_parts(task), stored["answers"])]


def _known_parts(task: Task) -> dict[Part, KnownAnswer]:
    return {part_of(row): row for row in task.known_answers.select_related("stimulus").order_by("pk")}


def _is_right(known_answer: KnownAnswer, parsed: Answer) -> bool:
    if known_answer.present is not None:
        return (known_answer.attribute_id in parsed.ticked) == known_answer.present
    return parsed.rating in known_answer.ratings


def _feedback(
    ref: str, text: str, attribute_id: int, parsed: Answer, known_answers: Mapping[int, KnownAnswer]
) -> Feedback:
    known_answer = known_answers.get(attribute_id)
    return Feedback(
        ref=ref,
        text=text,
        present=attribute_id in parsed.ticked if parsed.rating is None else None,
        rating=parsed.rating,
        right_present=known_answer.present if known_answer else None,
        right_ratings=tuple(known_answer.ratings) if known_answer else (),
        explanation=known_answer.explanation if known_answer else "",
        correct=_is_right(known_answer, parsed) if known_answer else None,
    )


def _stored(task: Task, parsed: Answer) -> dict[str, Any]:
    if parsed.questions is not None:
        return parsed.questions.as_json(kind_of(task.campaign))
    if parsed.rating is not None:
        return {"rating": parsed.rating, "justification": parsed.justification}
    return {
        "ticked": sorted(parsed.ticked),
        "boxes": [
            {"attribute": box.attribute_id, "x": box.x, "y": box.y, "width": box.width, "height": box.height}
            for box in parsed.boxes
        ],
        "none_of_the_above": bool(parsed.none_of_the_above),
    }


def _read(stored: Mapping[str, Any]) -> Answer:
    return Answer(ticked=frozenset(stored.get("ticked", ())), rating=stored.get("rating"))
