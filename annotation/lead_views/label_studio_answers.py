"""What was answered in Label Studio, and what became of it here."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.errors import DomainError
from annotation.bridge import people
from annotation.bridge import shown as showing
from annotation.bridge.forms import AnswerFilter, chosen
from annotation.lead_views.label_studio_campaign import bridge_for_lead
from annotation.lead_views.reading import page_of, person, typed
from annotation.models import LabelStudioAnnotation


@login_required
@require_safe
def answer_list(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Every annotation seen there with its state and the reason; the filters stand in the address."""
    bridge = bridge_for_lead(request, study, campaign)
    form = AnswerFilter(request.GET)
    state, name = chosen(form, "state"), typed(chosen(form, "q"))
    page = page_of(request, showing.answers(bridge, state=state, person=name))
    context = {
        "study": bridge.campaign.study,
        "campaign": bridge.campaign,
        "may_change": True,
        "bridge": bridge,
        "form": form,
        "page": page,
        "rows": showing.answer_lines(bridge, page.object_list),
        "explained": showing.EXPLAINED.get(state, ""),
        "filtered": bool(state or name),
        "told": not bridge.projects.filter(gone_at=None, webhook_id=None).exists(),
        "minutes": settings.LABEL_STUDIO_RECONCILE_MINUTES,
    }
    return render(request, "annotation/lead/label_studio/answers.html", context)


@login_required
@require_POST
def answer_allow(
    request: HttpRequest, study: str, campaign: str, answer: int, *, allowed: bool
) -> HttpResponse:
    """Let an answer count though it was sent or changed under another's name, or no longer."""
    bridge = bridge_for_lead(request, study, campaign)
    found = get_object_or_404(LabelStudioAnnotation, project__bridge=bridge, pk=answer)
    try:
        people.allow(mirrored=found, by=person(request), allowed=allowed)
    except DomainError as error:
        messages.error(request, error.message)
    else:
        said = "may count now" if allowed else "is flagged again"
        messages.success(request, f"No. {found.external_id} {said}.")
    address = reverse("annotation:label_studio_answers", args=[study, campaign])
    return redirect(f"{address}?state={LabelStudioAnnotation.State.FLAGGED}")
