"""An annotator's home page, and the page to withdraw consent."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from accounts import profiles
from accounts.rights import Capability, requires
from annotation.annotator.access import annotator_of, enrolment_for
from annotation.annotator.progress import standings
from annotation.people import withdrawal


@requires(get=Capability.ANNOTATE)
@never_cache
def home(request: HttpRequest) -> HttpResponse:
    """List the annotator's own work: what is done, what is left, and what they can change."""
    annotator = annotator_of(request.user)
    listed = standings(annotator) if annotator else []
    context = {
        "annotator": annotator,
        "standings": listed,
        "next": next((standing for standing in listed if standing.state == "ready"), None),
        "described": annotator is not None and profiles.of(annotator).pk is not None,
    }
    return render(request, "annotation/annotator/home.html", context)


@requires(get=Capability.ANNOTATE, post=Capability.ANNOTATE)
@never_cache
def withdraw(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Explain what withdrawing does, and withdraw after confirmation."""
    enrolment = enrolment_for(request, campaign_id)
    study = enrolment.campaign.study
    if request.method == "POST":
        if withdrawal.withdraw(annotator=enrolment.annotator, study=study):
            messages.success(request, _("Your consent is withdrawn. Your answers no longer count."))
        return redirect("annotate:home")
    covered = {enrolled.pk for enrolled in withdrawal.covered(annotator=enrolment.annotator, study=study)}
    context = {
        "campaign_id": campaign_id,
        "possible": withdrawal.is_possible(annotator=enrolment.annotator, study=study),
        "affected": [
            standing for standing in standings(enrolment.annotator) if standing.enrolment.pk in covered
        ],
    }
    return render(request, "annotation/annotator/withdraw.html", context)
