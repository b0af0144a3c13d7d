"""Reporting the picture of a task without scripts; the same verb as the API."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from accounts.rights import Capability, requires
from annotation.annotator.access import enrolment_for, own_assignment
from annotation.campaigns.images import reports


@requires(post=Capability.ANNOTATE)
def report(request: HttpRequest, campaign_id: int, public_id: UUID) -> HttpResponse:
    """Tell the lead that the picture should not be shown, and continue with the task."""
    enrolment = enrolment_for(request, campaign_id)
    reports.report(
        assignment=own_assignment(enrolment, public_id),
        annotator=enrolment.annotator,
        reason=request.POST.get("reason", ""),
        details=request.POST.get("details", ""),
        stimulus=request.POST.get("stimulus", ""),
    )
    messages.success(
        request, _("Reported. Thank you. The people who run this work will look at the picture.")
    )
    return redirect("annotate:task", campaign_id)
