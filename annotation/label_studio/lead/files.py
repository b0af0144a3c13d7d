"""A file exported from Label Studio: uploading it, mapping its names, importing it."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect

from accounts.rights import Capability, requires
from annotation.label_studio.format import uploads
from annotation.label_studio.format.inventory import Inventory
from annotation.label_studio.lead.file_forms import FileForm, MappingForm
from jobs.models import Job
from studies.study_view import StudyView
from web.form_page import FormPage

_LISTED = 10


@requires(get=Capability.CONNECT, post=Capability.CONNECT)
class FileUpload(StudyView, FormPage[FileForm]):
    """Accept an export, and queue its inspection."""

    template_name = "label_studio/files/upload.html"
    form_class = FileForm

    def call(self) -> HttpResponse:
        job = uploads.start_look(study=self.study, by=self.by, **self.form.cleaned_data)
        message = "The file is uploaded. A worker is reading its fields and controls."
        return self.redirect_with(message, "jobs:detail", job.pk)

    def context(self) -> dict[str, Any]:
        looks = uploads.looks_of(self.study).filter(state=Job.State.SUCCEEDED)[:_LISTED]
        return super().context() | {"looks": looks}


@requires(get=Capability.CONNECT, post=Capability.CONNECT)
class FilePage(StudyView, FormPage[MappingForm]):
    """Show the contents of a file, and import it with the chosen names."""

    template_name = "label_studio/files/detail.html"

    def load(self) -> None:
        super().load()
        self.job = get_object_or_404(Job, pk=self.kwargs["look"], kind=uploads.LOOK, study_id=self.study.pk)

    def instead(self) -> HttpResponse | None:
        return None if "inventory" in self.job.result else redirect("jobs:detail", pk=self.job.pk)

    def make_form(self, data: Any) -> MappingForm:
        self.inventory = Inventory.of(self.job.result["inventory"])
        return MappingForm(data, inventory=self.inventory)

    def call(self) -> HttpResponse:
        importing = uploads.start_import(look=self.job, by=self.by, **self.form.cleaned_data)
        return redirect("jobs:detail", pk=importing.pk)

    def context(self) -> dict[str, Any]:
        file_name = self.job.arguments["file_name"]
        return super().context() | {"job": self.job, "file_name": file_name, "inventory": self.inventory}
