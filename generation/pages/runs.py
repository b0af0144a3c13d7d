"""Pages to plan, start and resume generation runs."""

from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from accounts.models import User
from accounts.rights import Capability, requires
from foundation.errors import DomainError
from generation.pages.forms import GenerateForm
from generation.runs import estimates, launch, planning
from generation.runs.overview import runs_of
from studies.access import study_for
from studies.models import Study
from studies.study_view import StudyView
from web.form_page import FormPage, show_refusal

_NOTHING_CHOSEN = {"backend": "sketch", "default_probability": 0.1}  # in a simulated study


@requires(get=Capability.RUN_MODELS, post=Capability.RUN_MODELS)
class Generate(StudyView, FormPage[GenerateForm]):
    """Estimate a generation run and start it."""

    template_name = "generation/generate.html"

    def make_form(self, data: Any) -> GenerateForm:
        form = (
            _form_from_address(self.request, self.study)
            if data is None
            else GenerateForm(data, study=self.study)
        )
        self.estimated = _estimated(self.study, form)
        return form

    def call(self) -> HttpResponse:
        run = planning.plan_run(study=self.study, by=self.by, **self.form.plan())
        launch.start(run=run, by=self.by, workers=self.form.cleaned_data["workers"] or 1)
        message = "The images are being generated."
        return self.redirect_with(message, "studies:detail", self.study.slug)

    def context(self) -> dict[str, Any]:
        shown = {"templates": self.study.prompt_templates.all(), "runs": runs_of(self.study)}
        return super().context() | self.estimated | shown


@requires(get=Capability.RUN_MODELS)
def estimate(request: HttpRequest, study: str) -> HttpResponse:
    """Return the estimate of the submitted form as a fragment of the page."""
    found = study_for(request, study)
    form = _form_from_address(request, found)
    return render(request, "generation/_estimate.html", _estimated(found, form))


@requires(post=Capability.RUN_MODELS)
def go_on(request: HttpRequest, study: str, run: int) -> HttpResponse:
    """Queue the failed and pending images of a run again."""
    found = study_for(request, study)
    generation_run = get_object_or_404(found.generation_runs, pk=run)
    return redirect("jobs:detail", pk=launch.go_on(run=generation_run, by=cast("User", request.user)).pk)


def _form_from_address(request: HttpRequest, study: Study) -> GenerateForm:
    """Return the form filled from the query; without a query, with defaults in simulated studies, else unbound."""
    return GenerateForm(request.GET or (_NOTHING_CHOSEN if study.simulated else None), study=study)


def _estimated(study: Study, form: GenerateForm) -> dict[str, Any]:
    counted = None
    if form.is_valid():
        try:
            counted = estimates.estimate(study=study, **form.plan())
        except DomainError as error:
            show_refusal(form, error)
    return {"study": study, "form": form, "estimate": counted}
