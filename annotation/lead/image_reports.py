"""Pages of images that annotators reported: retract or keep them."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from accounts.rights import Capability, requires
from annotation.campaigns.images import reports, retraction
from annotation.lead.page_context import page_of, study_context
from generation.images.signed_urls import image_url
from generation.models import Image
from studies.study_view import StudyView
from web.form_page import Button

PER_PAGE = 20
RETRACTED_SHOWN = 50


@requires(get=Capability.SEE_IMAGES)
def report_list(request: HttpRequest, study: str) -> HttpResponse:
    """Show undecided reports, the most reported image first, and retracted images."""
    context = study_context(request, study)
    reported = reports.by_image(reports.open_reports(context["study"]))
    page = page_of(request, reported, per_page=PER_PAGE)
    viewer = f"user:{request.user.pk}"
    retracted = context["study"].images.filter(retracted_at__isnull=False).select_related("group")
    context |= {
        "page": page,
        "shown": [
            (reported_image, image_url(reported_image.image, viewer=viewer))
            for reported_image in page.object_list
        ],
        "retracted": retracted.order_by("-retracted_at")[:RETRACTED_SHOWN],
        "retracted_count": retracted.count(),
    }
    return render(request, "annotation/lead/image_reports.html", context)


@requires(post=Capability.RUN_CAMPAIGNS)
class ImageDecide(StudyView, Button):
    """Retract or keep a reported image, with a reason."""

    leads_to = "annotation:image_reports"

    def load(self) -> None:
        super().load()
        self.image = get_object_or_404(Image, study=self.study, public_id=self.kwargs["image"])

    def call(self) -> str:
        reason = self.request.POST.get("reason", "").replace("\x00", "")
        if "retract" in self.request.POST:
            reports.retract(image=self.image, by=self.by, reason=reason)
            return "The image is retracted. The image and its labels no longer count."
        reports.dismiss(image=self.image, by=self.by, reason=reason)
        return "The image is kept and its reports are closed."


@requires(post=Capability.RUN_CAMPAIGNS)
class ImageRestore(ImageDecide):
    """Undo a retraction."""

    def call(self) -> str:
        retraction.restore(image=self.image, by=self.by)
        return "The image is back, and its labels count again."
