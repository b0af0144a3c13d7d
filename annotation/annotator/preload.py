"""Which picture will probably come next, so that the browser has it before it is asked for."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.annotator.access import enrolment_for, step_before_work
from annotation.assignment.leases import likely_next
from annotation.models import Campaign, Enrolment
from generation.images.signed_urls import image_url
from generation.models import Image


@never_cache
@login_required
@require_safe
def ahead(request: HttpRequest, campaign_id: int) -> JsonResponse:
    """Answer the address of one picture and nothing else; reads only, and promises nothing.

    Asked for while a task is looked at, so that submitting does not get longer by it.
    """
    enrolment = enrolment_for(request, campaign_id)
    image = None if step_before_work(enrolment) else _next_image(enrolment)
    viewer = f"annotator:{enrolment.annotator_id}"
    return JsonResponse({"image": image_url(image, viewer=viewer) if image else None})


def _next_image(enrolment: Enrolment) -> Image | None:
    """Return the picture of the task that would be leased if the open one were submitted now."""
    campaign, annotator = enrolment.campaign, enrolment.annotator_id
    if enrolment.state != Enrolment.State.ACTIVE or campaign.state != Campaign.State.OPEN:
        return None
    task = likely_next(campaign, annotator)
    return Image.objects.filter(tasks=task, retracted_at=None).first() if task else None
