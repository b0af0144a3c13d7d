"""Practice before real tasks: introduction, one task after another with feedback, and the result.

The pages work without scripts; the script adds keyboard shortcuts, and drawing boxes on the picture.
"""

import json
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache

from accounts.rights import Capability, requires
from annotation.annotator.access import consent_text, enrolment_for, step_before_work
from annotation.annotator.onboarding import BLUR
from annotation.annotator.payload import screen
from annotation.annotator.practice.payload import practice_task_payload
from annotation.annotator.practice.words import verdict
from annotation.annotator.screen import Screen, posted_answer
from annotation.annotator.screen.questions import QuestionScreen
from annotation.annotator.translation.scripts import script_words
from annotation.assignment.eligibility import State
from annotation.kinds.registry import RATING_ORDER, kind_of, work_in
from annotation.models import Campaign, Enrolment, PracticeAnswer, Task
from annotation.quality.practice import rounds
from annotation.quality.practice.progress import Practice, practice_of
from foundation.errors import Conflict, DomainError
from studies import consent


@requires(get=Capability.ANNOTATE, post=Capability.ANNOTATE)
@never_cache
def intro(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Explain practice and show the result so far; a POST goes to the next task."""
    enrolment = enrolment_for(request, campaign_id)
    if step := step_before_work(enrolment):
        return redirect(step)
    standing = practice_of(enrolment)
    if standing.state == State.NOT_NEEDED:
        return redirect("annotate:task", campaign_id)
    if standing.state == State.OPEN and not _may_practise(enrolment):
        return redirect("annotate:done", campaign_id)
    if request.method == "POST":
        return redirect("annotate:practice_task", campaign_id)
    context = _context(enrolment, standing) | {"answers": rounds.latest_answers(enrolment)}
    return render(request, "annotation/annotator/practice/intro.html", context)


@requires(get=Capability.ANNOTATE)
@never_cache
def task(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Show the next practice task or, if there is none left, the result."""
    enrolment = enrolment_for(request, campaign_id)
    if step := step_before_work(enrolment):
        return redirect(step)
    if not _may_practise(enrolment):
        return redirect("annotate:practice", campaign_id)
    practice_task = rounds.next_task(campaign=enrolment.campaign, annotator=enrolment.annotator)
    if practice_task is None:
        return redirect("annotate:practice", campaign_id)
    return _task_page(request, enrolment, practice_task)


@requires(get=Capability.ANNOTATE, post=Capability.ANNOTATE)
@never_cache
def answer(request: HttpRequest, campaign_id: int, public_id: UUID) -> HttpResponse:
    """Accept an answer; then, and when the person returns, show it with the right answer."""
    enrolment = enrolment_for(request, campaign_id)
    practice_task = rounds.own_task(request.user.pk, public_id)
    if practice_task.campaign_id != campaign_id or not consent.has_consented(
        enrolment.annotator, enrolment.campaign.study
    ):
        return redirect("annotate:practice", campaign_id)
    if request.method == "POST":
        try:
            rounds.answer(
                task=practice_task,
                annotator=enrolment.annotator,
                data=_sent_answer(request, enrolment.campaign),
            )
        except Conflict as conflict:
            if not conflict.code.startswith("practice_"):
                raise
            # Sent twice, or the task no longer exists: show the stored answer, or the next step.
        except DomainError as error:
            if error.status != 400:
                raise
            return _task_page(request, enrolment, practice_task, error=error)
        return redirect("annotate:practice_answer", campaign_id, public_id)
    practice_answer = rounds.answered_before(enrolment, practice_task)
    if practice_answer is None:
        return redirect("annotate:practice", campaign_id)
    return _feedback_page(request, enrolment, practice_answer)


def _may_practise(enrolment: Enrolment) -> bool:
    return enrolment.state == Enrolment.State.ACTIVE and enrolment.campaign.state == Campaign.State.OPEN


def _sent_answer(request: HttpRequest, campaign: Campaign) -> object:
    """Return the script's data, including boxes, or else the plain form's fields."""
    try:
        return json.loads(request.POST.get("answer") or "")
    except (ValueError, RecursionError):
        return posted_answer(request.POST, campaign)


def _task_page(
    request: HttpRequest,
    enrolment: Enrolment,
    practice_task: Task,
    *,
    error: DomainError | None = None,
) -> HttpResponse:
    standing = practice_of(enrolment)
    payload = practice_task_payload(practice_task, annotator_id=enrolment.annotator_id, standing=standing)
    context = {
        **_context(enrolment, standing),
        "payload": payload,
        # The form's own fields have the script's data, except boxes.
        "screen": Screen.of(payload, answer=posted_answer(request.POST, enrolment.campaign)),
        "number": (standing.latest.answered if standing.latest else 0) + 1,
        "error": error,
        "text": consent_text(enrolment.campaign),
        "words": script_words(get_language() or settings.LANGUAGE_CODE),
        "blurred": request.COOKIES.get(BLUR) == "1",
    }
    return render(request, "annotation/annotator/practice/task.html", context, status=400 if error else 200)


def _feedback_page(
    request: HttpRequest, enrolment: Enrolment, practice_answer: PracticeAnswer
) -> HttpResponse:
    standing = practice_of(enrolment)
    payload = screen(practice_answer.task, viewer=f"annotator:{enrolment.annotator_id}")
    shown = Screen.of(payload)
    context = {
        **_context(enrolment, standing),
        "payload": payload,
        "screen": shown,
        "answer": practice_answer,
        "more": standing.running is not None,
        "text": consent_text(enrolment.campaign),
        "words": script_words(get_language() or settings.LANGUAGE_CODE),
        "blurred": request.COOKIES.get(BLUR) == "1",
        **(
            _attribute_verdicts(practice_answer, payload)
            if shown.questions is None
            else _question_verdicts(practice_answer, shown.questions)
        ),
    }
    return render(request, "annotation/annotator/practice/feedback.html", context)


def _question_verdicts(practice_answer: PracticeAnswer, shown: QuestionScreen) -> dict[str, Any]:
    names = {stimulus.ref: stimulus.name for stimulus in shown.stimuli}
    return {"verdicts": [verdict(one, names) for one in rounds.question_feedback(practice_answer)]}


def _attribute_verdicts(practice_answer: PracticeAnswer, payload: dict[str, Any]) -> dict[str, Any]:
    feedbacks = rounds.feedback(practice_answer)
    labels = payload["instrument"]["labels"]
    numbers = {feedback.ref: number for number, feedback in enumerate(feedbacks, start=1)}
    return {
        "lines": [(numbers[feedback.ref], feedback, _labels(feedback, labels)) for feedback in feedbacks],
        "boxes": [
            {"number": numbers[box["attribute"]], **_drawn(box, payload["image"])}
            for box in rounds.boxes_of(practice_answer)
        ],
    }


def _drawn(box: dict[str, Any], image: dict[str, Any]) -> dict[str, str]:
    """Return a box in the units of its image."""
    units = {"x": "width", "y": "height", "width": "width", "height": "height"}
    return {side: f"{box[side] * image[unit]:.1f}" for side, unit in units.items()}


def _labels(feedback: rounds.Feedback, labels: dict[str, str]) -> dict[str, Any]:
    """Return a rating and the right ones in words, most agreement first."""
    right = [
        labels[rating]
        for rating in RATING_ORDER
        if rating in labels and int(rating) in feedback.right_ratings
    ]
    return {"yours": labels.get(str(feedback.rating), ""), "right": right}


def _context(enrolment: Enrolment, standing: Practice) -> dict[str, Any]:
    latest = standing.latest
    return {
        "campaign_id": enrolment.campaign_id,
        "rating": kind_of(enrolment.campaign).rates_attributes,
        "draws": kind_of(enrolment.campaign).draws,
        "work": work_in(enrolment.campaign),
        "practice": standing,
        "ended": latest if latest is not None and latest.passed is not None else None,
        "mark": round(100 * standing.pass_mark),
    }
