"""The page of a task. It works with forms alone; scripts make it faster."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache

from accounts.rights import Capability, requires
from annotation.annotator.access import (
    consent_text,
    enrolment_for,
    own_assignment,
    page_at_end,
    panel_place,
    step_before_work,
)
from annotation.annotator.onboarding import BLUR, RETURN_LINK
from annotation.annotator.payload import task_payload
from annotation.annotator.progress import PlaceProgress, standing
from annotation.annotator.screen import Screen, posted_answer
from annotation.annotator.translation.scripts import script_words
from annotation.answers import edit_window
from annotation.answers.submission import SentAnswer, submit
from annotation.answers.validation import instrument_version, submission_id
from annotation.assignment import leases as assigning
from annotation.campaigns.instruments import versions
from annotation.campaigns.instruments.diff import Change
from annotation.kinds.registry import work_in
from annotation.models import Assignment, Campaign, Enrolment, ImageReport, QualityAction
from annotation.quality import enforcement
from annotation.quality.sentences import for_annotator
from foundation.errors import DomainError
from studies import consent

# The imports of the task's script, so that the browser fetches all of them at once and not level by level.
_OWN = (
    "marking/attribute-list marking/box-editor marking/geometry marking/pane marking/place-list "
    "marking/zoom screen/active-time screen/answer-state screen/comfort screen/guidelines screen/history "
    "screen/picture screen/progress-line screen/report screen/shortcuts submission/draft "
    "submission/outbox submission/resend submission/saved-state words"
)
MODULES = ("web/js/announce.js", *(f"annotation/annotator/{name}.js" for name in _OWN.split()))
RATING_MODULES = (
    *MODULES,
    "annotation/annotator/screen/choose-submits.js",
    "annotation/annotator/screen/rating-pane.js",
)
# Its additional imports for kinds with declared questions.
_OF_QUESTIONS = (
    "asked-question conditions copies pane point-editor question-keys question-state regions stimuli words-of"
)
QUESTION_MODULES = (
    *MODULES,
    *(f"annotation/annotator/questions/{name}.js" for name in _OF_QUESTIONS.split()),
)


@requires(get=Capability.ANNOTATE)
@never_cache
def task(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Show the annotator's open task, or lease the next one."""
    enrolment = enrolment_for(request, campaign_id)
    if step := step_before_work(enrolment):
        return redirect(step)
    request.session.pop(RETURN_LINK, None)
    campaign = enrolment.campaign
    if enrolment.state != Enrolment.State.ACTIVE or campaign.state != Campaign.State.OPEN:
        return redirect("annotate:done", campaign_id)
    if campaign.labelled_in:
        return redirect("annotate:done", campaign_id)
    try:
        assignment = assigning.next_assignment(campaign=campaign, annotator=enrolment.annotator)
    except DomainError as refusal:
        if refusal.code != "practice_first":
            raise
        return redirect("annotate:practice", campaign_id)
    if assignment is None:
        return redirect("annotate:done", campaign_id)
    return task_page(request, enrolment, assignment)


@requires(post=Capability.ANNOTATE)
@never_cache
def answer(request: HttpRequest, campaign_id: int, public_id: UUID) -> HttpResponse:
    """Submit without scripts: the same verb as the API, the same rules."""
    enrolment = enrolment_for(request, campaign_id)
    assignment = own_assignment(enrolment, public_id)
    sent_id = submission_id(request.POST.get("submission_id"))
    try:
        sent = SentAnswer(
            user_id=request.user.pk,
            public_id=public_id,
            submission_id=sent_id,
            answer=posted_answer(request.POST, enrolment.campaign),
            instrument_version=instrument_version(_whole(request.POST.get("instrument_version"))),
        )
        saved = submit(sent)
    except DomainError as error:
        if error.status != 400:
            raise
        revising = {"place": 1, "of": 1} if "revising" in request.POST else None
        return task_page(request, enrolment, assignment, revising=revising, error=error)
    enforcement.after_answer(annotation_id=saved.annotation_id)
    return redirect("annotate:task", campaign_id)


@requires(post=Capability.ANNOTATE)
@never_cache
def skip(request: HttpRequest, campaign_id: int, public_id: UUID) -> HttpResponse:
    """Give the task back unanswered and go to the next."""
    enrolment = enrolment_for(request, campaign_id)
    assigning.skip(assignment=own_assignment(enrolment, public_id), annotator=enrolment.annotator)
    return redirect("annotate:task", campaign_id)


@requires(post=Capability.ANNOTATE)
@never_cache
def warning_read(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Store that the annotator has read a warning, which is then no longer shown."""
    enforcement.acknowledge_warnings(enrolment=enrolment_for(request, campaign_id))
    return redirect("annotate:task", campaign_id)


@requires(get=Capability.ANNOTATE, post=Capability.ANNOTATE)
@never_cache
def done(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Show thanks, counts and the next steps; a POST takes a break and frees the open task for others."""
    enrolment = enrolment_for(request, campaign_id)
    if request.method == "POST":
        assigning.release(annotator=enrolment.annotator, campaign=enrolment.campaign)
        return redirect("annotate:done", campaign_id)
    if page := page_at_end(enrolment):
        return redirect(page)
    context = {
        "campaign_id": campaign_id,
        "standing": standing(enrolment),
        "pauses": [
            for_annotator(event) for event in enforcement.standing_events(enrolment, QualityAction.PAUSE)
        ],
        "correctable": edit_window.has_recent(enrolment),
        "text": consent_text(enrolment.campaign),
        "languages": len(enrolment.campaign.offered_languages or ()) > 1,
        "consented": consent.has_consented(enrolment.annotator, enrolment.campaign.study),
    }
    return render(request, "annotation/annotator/done.html", context)


def task_page(
    request: HttpRequest,
    enrolment: Enrolment,
    assignment: Assignment,
    *,
    revising: Mapping[str, object] | None = None,
    error: DomainError | None = None,
) -> HttpResponse:
    """Render a task; `revising` is its position among the answers that can be corrected."""
    payload = task_payload(assignment)
    place = panel_place(enrolment)
    if place:
        payload["progress"]["place"] = place
    posted = posted_answer(request.POST, enrolment.campaign) if error else None
    screen = Screen.of(payload, answer=posted)
    context = {
        "campaign_id": enrolment.campaign_id,
        "work": work_in(enrolment.campaign),
        "payload": payload,
        "place": place and PlaceProgress.of(place, payload["progress"]),
        "guidelines_changed": _guidelines_changed(enrolment, payload),
        "warnings": [for_annotator(event) for event in enforcement.unseen_warnings(enrolment)],
        "screen": screen,
        "revising": revising,
        "error": error,
        "now": timezone.now(),
        "submission_id": uuid4(),
        "has_previous": revising is None and edit_window.has_recent(enrolment),
        "text": consent_text(enrolment.campaign),
        "report_reasons": ImageReport.Reason.choices,
        "modules": _modules(screen),
        "words": script_words(get_language() or settings.LANGUAGE_CODE),
        "blurred": request.COOKIES.get(BLUR) == "1",
    }
    return render(request, "annotation/annotator/task/task.html", context, status=400 if error else 200)


def _modules(screen: Screen) -> tuple[str, ...]:
    if screen.questions:
        return QUESTION_MODULES
    return RATING_MODULES if screen.rating else MODULES


def _guidelines_changed(enrolment: Enrolment, payload: Mapping[str, Any]) -> tuple[Change, ...]:
    version = payload["instrument"]["version"]
    if version == 1:
        return ()
    return versions.changed_since(enrolment.campaign, enrolment.annotator_id, version)


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() else None
