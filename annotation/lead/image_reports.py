"""Images that annotators reported: looked at one by one, retracted or left."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.campaigns.images import reports, retraction
from annotation.lead.page_context import page_of, person, study_context
from foundation.errors import DomainError
from generation.images.signed_urls import image_url
from generation.models import Image
from studies.access import LEAD, study_for

PER_PAGE = 20
RETRACTED_SHOWN = 50


@login_required
@require_safe
def report_list(request: HttpRequest, study: str) -> HttpResponse:
    """What is reported and undecided, the most reported first, and what was retracted."""
    context = study_context(request, study)
    reported = reports.by_image(reports.open_reports(context["study"]))
    page = page_of(request, reported, per_page=PER_PAGE)
    viewer = f"user:{request.user.pk}"
    retracted = context["study"].images.filter(retracted_at__isnull=False).select_related("group")
    context |= {
        "page": page,
        "shown": [(one, image_url(one.image, viewer=viewer)) for one in page.object_list],
        "retracted": retracted.order_by("-retracted_at")[:RETRACTED_SHOWN],
        "retracted_count": retracted.count(),
    }
    return render(request, "annotation/lead/image_reports.html", context)


@login_required
@require_POST
def image_decide(request: HttpRequest, study: str, image: UUID) -> HttpResponse:
    """Retract a reported image, or let it stay; either needs a reason."""
    found = study_for(request.user, study, role=LEAD)
    shown = get_object_or_404(Image, study=found, public_id=image)
    reason = request.POST.get("reason", "").replace("\x00", "")
    try:
        if "retract" in request.POST:
            reports.retract(image=shown, by=person(request), reason=reason)
            messages.success(request, "The image is retracted. It and its labels count no more.")
        else:
            reports.dismiss(image=shown, by=person(request), reason=reason)
            messages.success(request, "The image stays; its reports are closed.")
    except DomainError as error:
        messages.error(request, error.message)
    return redirect("annotation:image_reports", study)


@login_required
@require_POST
def image_restore(request: HttpRequest, study: str, image: UUID) -> HttpResponse:
    """Take a retraction back."""
    found = study_for(request.user, study, role=LEAD)
    shown = get_object_or_404(Image, study=found, public_id=image)
    try:
        retraction.restore(image=shown, by=person(request))
    except DomainError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "The image is back, and its labels count again.")
    return redirect("annotation:image_reports", study)
