"""A file exported from a Label Studio: uploading it, saying which of its names hold what, having it imported."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from annotation.label_studio.format import uploads
from annotation.label_studio.format.inventory import Inventory
from annotation.label_studio.lead.file_forms import FileForm, MappingForm
from annotation.lead.forms import show_refusal
from annotation.lead.page_context import person
from foundation.errors import DomainError
from jobs.models import Job
from studies.access import LEAD, study_for

_LISTED = 10


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def file_upload(request: HttpRequest, study: str) -> HttpResponse:
    """Take an export, and have a worker look what it holds."""
    found = study_for(request.user, study, role=LEAD)
    form = FileForm(request.POST or None, request.FILES or None)
    if form.is_valid():
        try:
            job = uploads.start_look(study=found, by=person(request), **form.cleaned_data)
        except DomainError as error:
            show_refusal(form, error)
        else:
            messages.success(request, "The file is uploaded. A worker is reading its fields and controls.")
            return redirect("jobs:detail", pk=job.pk)
    looks = uploads.looks_of(found).filter(state=Job.State.SUCCEEDED)[:_LISTED]
    context = {"study": found, "may_change": True, "form": form, "looks": looks}
    status = 400 if form.is_bound else 200
    return render(request, "annotation/label_studio/files/upload.html", context, status=status)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def file_page(request: HttpRequest, study: str, look: int) -> HttpResponse:
    """Show what a file holds, and import it by the names that are said."""
    found = study_for(request.user, study, role=LEAD)
    job = get_object_or_404(Job, pk=look, kind=uploads.LOOK, study_id=found.pk)
    if "inventory" not in job.result:
        return redirect("jobs:detail", pk=job.pk)
    inventory = Inventory.of(job.result["inventory"])
    form = MappingForm(request.POST or None, inventory=inventory)
    if request.method == "POST" and form.is_valid():
        try:
            importing = uploads.start_import(look=job, by=person(request), **form.cleaned_data)
        except DomainError as error:
            show_refusal(form, error)
        else:
            return redirect("jobs:detail", pk=importing.pk)
    context = {
        "study": found,
        "may_change": True,
        "job": job,
        "file_name": job.arguments["file_name"],
        "inventory": inventory,
        "form": form,
    }
    status = 400 if form.errors else 200
    return render(request, "annotation/label_studio/files/detail.html", context, status=status)
