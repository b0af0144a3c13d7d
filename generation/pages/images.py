"""Pages to view and import the images of a study."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.rights import Capability, requires
from generation.images import contact_sheet
from generation.imports import uploads
from generation.pages.forms import ImportForm
from studies.access import may, study_for
from studies.models import Study
from studies.study_view import StudyView
from web.form_page import FormPage
from web.keyset import key_page

_PER_PAGE = 60


@requires(get=Capability.SEE_IMAGES)
def images(request: HttpRequest, study: str) -> HttpResponse:
    """Show a contact sheet by group and model."""
    found = study_for(request, study)
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
        # After paging or filtering, the reader has already seen the warning.
        "warned": bool(wanted) or not page.is_first,
        "may_change": may(request, found, Capability.RUN_MODELS),
    }
    return render(request, "generation/images.html", context)


@requires(get=Capability.SEE_IMAGES)
def not_made(request: HttpRequest, study: str) -> HttpResponse:
    """List the requests that ended without an image, with reasons."""
    found = study_for(request, study)
    page = key_page(request, contact_sheet.not_made(found), size=100)
    context = {"study": found, "page": page, "counts": contact_sheet.outcome_counts(found)}
    return render(request, "generation/not_made.html", context)


@requires(get=Capability.RUN_MODELS, post=Capability.RUN_MODELS)
class ImportImages(StudyView, FormPage[ImportForm]):
    """Accept a zip archive and queue its import."""

    template_name = "generation/import_images.html"

    def make_form(self, data: Any) -> ImportForm:
        layout = "pairs" if self.study.protocol == Study.Protocol.PAIRS else "groups"
        return ImportForm(data, self.request.FILES or None, initial={"layout": layout})

    def call(self) -> HttpResponse:
        job = uploads.start_import(study=self.study, by=self.by, **self.form.cleaned_data)
        message = "The archive is uploaded. Every image in the archive is being checked."
        return self.redirect_with(message, "jobs:detail", job.pk)

    def context(self) -> dict[str, Any]:
        return super().context() | {"groups": self.study.groups.all()[:200]}
