"""The pictures that will probably be shown next, so that the browser can load them in advance."""

from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache

from accounts.rights import Capability, requires
from annotation.annotator.access import enrolment_for, step_before_work
from annotation.assignment.leases import likely_next
from annotation.kinds.registry import kind_of
from annotation.models import Campaign, Enrolment
from generation.images.signed_urls import image_url
from generation.models import Image


@requires(get=Capability.ANNOTATE)
@never_cache
def ahead(request: HttpRequest, campaign_id: int) -> JsonResponse:
    """Return only the addresses of a task's pictures; reads only, without a guarantee.

    Requested while a task is shown, so that submitting does not take longer.
    """
    enrolment = enrolment_for(request, campaign_id)
    images = [] if step_before_work(enrolment) else _next_images(enrolment)
    viewer = f"annotator:{enrolment.annotator_id}"
    return JsonResponse({"images": [image_url(image, viewer=viewer) for image in images]})


def _next_images(enrolment: Enrolment) -> list[Image]:
    """Return the pictures of the task that would be leased if the open one were submitted now."""
    campaign, annotator = enrolment.campaign, enrolment.annotator_id
    if enrolment.state != Enrolment.State.ACTIVE or campaign.state != Campaign.State.OPEN:
        return []
    task = likely_next(campaign, annotator)
    if task is None:
        return []
    images = Image.objects.filter(retracted_at=None)
    if kind_of(campaign).about_attributes:
        return list(images.filter(tasks=task))
    return list(images.filter(task_stimuli__task=task).order_by("task_stimuli__position"))
