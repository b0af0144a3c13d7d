"""Going back to recent answers to correct them."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache

from accounts.rights import Capability, requires
from annotation.annotator.access import enrolment_for, own_assignment, step_before_work
from annotation.annotator.task import task_page
from annotation.answers import edit_window
from annotation.kinds.registry import kind_of, work_in


@requires(get=Capability.ANNOTATE)
@never_cache
def answers(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """List the answers that can still be corrected."""
    enrolment = enrolment_for(request, campaign_id)
    if step := step_before_work(enrolment):
        return redirect(step)
    kind = kind_of(enrolment.campaign)
    context = {
        "campaign_id": campaign_id,
        "work": work_in(enrolment.campaign),
        "answers": edit_window.recent_answers(enrolment),
        "minutes": edit_window.edit_minutes(enrolment.campaign),
        "rating": kind.rates_attributes,
        "questions": not kind.about_attributes,
    }
    return render(request, "annotation/annotator/corrections.html", context)


@requires(get=Capability.ANNOTATE)
@never_cache
def previous(request: HttpRequest, campaign_id: int, public_id: UUID | None = None) -> HttpResponse:
    """Show a recent answer of the annotator, by default the last, to correct it."""
    enrolment = enrolment_for(request, campaign_id)
    if step := step_before_work(enrolment):
        return redirect(step)
    recent = edit_window.recent_answers(enrolment)
    ids = [answer.public_id for answer in recent]
    chosen_id = public_id or next(iter(ids), None)
    if chosen_id not in ids:
        return redirect("annotate:answers", campaign_id)
    place = ids.index(chosen_id)
    steps = {
        "place": place + 1,
        "of": len(ids),
        "earlier": ids[place + 1] if place + 1 < len(ids) else None,
        "later": ids[place - 1] if place else None,
    }
    return task_page(request, enrolment, own_assignment(enrolment, chosen_id), revising=steps)
