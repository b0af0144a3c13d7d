"""A study's images: seeing, making and importing them."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import User
from foundation.errors import DomainError
from generation.images import contact_sheet
from generation.imports import uploads
from generation.pages.forms import ImportForm, show_refusal
from studies.access import LEAD, holds, study_for
from web.keyset import key_page

_PER_PAGE = 60


@login_required
@require_safe
def images(request: HttpRequest, study: str) -> HttpResponse:
    """Show a contact sheet by group and model."""
    found = study_for(request.user, study)
    wanted = contact_sheet.ImageFilter.parse(request.GET)
    choices = contact_sheet.choices_of(found)
    page = contact_sheet.sheet_page(found, wanted, choices, request.GET, size=_PER_PAGE)
    context = {
        "study": found,
        "page": page,
        "number": contact_sheet.number_of(found, wanted, choices),
        "sheet": contact_sheet.prints(page.object_list, viewer=f"user:{request.user.pk}"),
        "wanted": wanted,
        "choices": choices,
        "counts": contact_sheet.outcome_counts(found),
        # Whoever turns the page or filters has seen the warning.
        "warned": bool(wanted) or not page.is_first,
        "may_change": holds(request.user, found, LEAD),
    }
    return render(request, "generation/images.html", context)


@login_required
@require_safe
def not_made(request: HttpRequest, study: str) -> HttpResponse:
    """List what was asked of a model and left no image, and why."""
    found = study_for(request.user, study)
    page = key_page(request, contact_sheet.not_made(found), size=100)
    context = {"study": found, "page": page, "counts": contact_sheet.outcome_counts(found)}
    return render(request, "generation/not_made.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def import_images(request: HttpRequest, study: str) -> HttpResponse:
    """Take a zip archive and let a worker import it."""
    found = study_for(request.user, study, role=LEAD)
    form = ImportForm(request.POST or None, request.FILES or None)
    if form.is_valid():
        try:
            job = uploads.start_import(study=found, by=cast("User", request.user), **form.cleaned_data)
            messages.success(request, "The archive is here. The images are looked at one by one now.")
            return redirect("jobs:detail", pk=job.pk)
        except DomainError as error:
            show_refusal(form, error)
    status = 400 if form.is_bound else 200
    context = {"study": found, "form": form, "groups": found.groups.all()[:200]}
    return render(request, "generation/import_images.html", context, status=status)
