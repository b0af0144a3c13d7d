"""Pages to import a file of answers: upload it, assign its columns, import it."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect

from accounts.rights import Capability, requires
from foundation.errors import DomainError, NotFound
from generation.imports.answers import uploads
from generation.imports.answers.fields import AnswerImportOptions
from generation.imports.answers.sample import FileSample, SampleRow, read_sample
from generation.pages.probing.file_forms import NEEDED, AnswerColumnsForm, AnswerFileForm
from generation.probing.planning import last_probe_set, probe_sets_of
from jobs.models import Job
from studies.study_view import StudyView
from web.form_page import FormPage, show_refusal

NO_MODEL = "Enter the model, or choose the column that contains it."
_LISTED = 10


@requires(get=Capability.RUN_MODELS, post=Capability.RUN_MODELS)
class AnswerUpload(StudyView, FormPage[AnswerFileForm]):
    """Accept a file and queue a job that reads its first rows."""

    template_name = "generation/probing/answer_upload.html"
    form_class = AnswerFileForm

    def call(self) -> HttpResponse:
        job = uploads.start_look(study=self.study, by=self.by, **self.form.cleaned_data)
        return self.redirect_with(
            "The file is uploaded. A worker is reading the columns of the file.", "jobs:detail", job.pk
        )

    def context(self) -> dict[str, Any]:
        looks = uploads.looks_of(self.study).filter(state=Job.State.SUCCEEDED)[:_LISTED]
        return super().context() | {"looks": looks}


@requires(get=Capability.RUN_MODELS, post=Capability.RUN_MODELS)
class AnswerFilePage(StudyView, FormPage[AnswerColumnsForm]):
    """Show the first rows of a file as they would be imported; import all rows with the chosen columns."""

    template_name = "generation/probing/answer_file.html"
    action = "import"

    def load(self) -> None:
        super().load()
        look = Job.objects.filter(pk=self.kwargs["look"], kind=uploads.LOOK, study_id=self.study.pk).first()
        if look is None:
            raise NotFound("file_not_found", "This study does not have this file.")
        self.look = look

    def instead(self) -> HttpResponse | None:
        return None if "sample" in self.look.result else redirect("jobs:detail", pk=self.look.pk)

    def make_form(self, data: Any) -> AnswerColumnsForm:
        self.sample = FileSample(**self.look.result["sample"])
        sets = probe_sets_of(self.study)
        form = AnswerColumnsForm(data, sample=self.sample, probe_sets=sets)
        if not self.sample.suggested()["probe_set"]:
            form.fields["probe_set"].initial = last_probe_set(self.study, sets)
        self.rows, self.problem = self._read(form)
        return form

    def call(self) -> HttpResponse:
        columns, probe_set, options = self.form.stated()
        job = uploads.start_import(
            look=self.look,
            columns=columns,
            probe_set=probe_set,
            options=AnswerImportOptions.read(options),
            by=self.by,
        )
        return self.redirect_with("The answers are being imported.", "jobs:detail", job.pk)

    def context(self) -> dict[str, Any]:
        return super().context() | {
            "sample": self.sample,
            "rows": self.rows,
            "problem": self.problem,
            "understood": sum(row.answer is not None for row in self.rows),
        }

    def _read(self, form: AnswerColumnsForm) -> tuple[list[SampleRow], str]:
        """Return the first rows as they would be imported, or the reason why the columns cannot be used."""
        if form.is_bound and not form.is_valid():
            return [], ""
        columns, probe_set, options = form.stated()
        if not columns.keys() >= set(NEEDED):
            return [], "Choose the columns that contain the answer and the question."
        if not (columns.keys() & {"model", "label"} or options.get("model") or options.get("label")):
            if form.is_bound:
                form.add_error("model", NO_MODEL)
            return [], NO_MODEL
        try:
            rows = read_sample(
                self.sample,
                self.study,
                columns,
                probe_sets=uploads.chosen_sets(self.study, probe_set),
                options=AnswerImportOptions.read(options),
            )
        except DomainError as error:
            if form.is_bound:
                show_refusal(form, error)
            return [], error.message
        return rows, ""
