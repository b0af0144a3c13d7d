"""Pages to plan, start and monitor probe runs."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.rights import Capability, requires
from foundation.errors import Conflict, DomainError, NotFound
from generation.models import ProbeRun
from generation.pages.probing.forms import PriceForm, ProbeForm, nothing_chosen
from generation.pages.probing.overview import MOST_FAILURES, failure_reasons, lines_of, parameter_words
from generation.probing import estimates, launch
from generation.probing.planning import Prices, change_prices, plan_run
from generation.probing.totals import served_models
from jobs.run.control import cancel
from studies.access import may, study_for
from studies.models import Study
from studies.study_view import StudyView
from web.form_page import Button, FormPage, show_refusal
from web.keyset import key_page

_PER_PAGE = 20
_MOST_BATCHES = 20
_MOST_SERVED = 20  # models and fingerprints listed on a page


def probe_run_of(study: Study, pk: int) -> ProbeRun:
    """Return a probe run of the study; raise NotFound if there is none."""
    run = study.probe_runs.select_related("job", "created_by").filter(pk=pk).first()
    if run is None:
        raise NotFound("probe_run_not_found", "This study does not have this probe run.")
    run.study = study
    return run


@requires(get=Capability.SEE_IMAGES)
def probes(request: HttpRequest, study: str) -> HttpResponse:
    """List the probe runs of a study, newest first."""
    current_study = study_for(request, study)
    page = key_page(request, current_study.probe_runs.select_related("job"), size=_PER_PAGE)
    context = {
        "study": current_study,
        "page": page,
        "lines": lines_of(page),
        "may_change": may(request, current_study, Capability.RUN_MODELS),
    }
    return render(request, "generation/probing/runs.html", context)


@requires(get=Capability.RUN_MODELS, post=Capability.RUN_MODELS)
class NewProbe(StudyView, FormPage[ProbeForm]):
    """Estimate a probe run and start it."""

    template_name = "generation/probing/new.html"

    def make_form(self, data: Any) -> ProbeForm:
        form = ProbeForm(
            self.request.GET or nothing_chosen(self.study) if data is None else data, study=self.study
        )
        self.estimated = _estimated(self.study, form)
        return form

    def call(self) -> HttpResponse:
        run = plan_run(plan=self.form.plan(self.study), by=self.by)
        launch.start(run=run, by=self.by)
        return self.redirect_with("The questions are queued.", "generation:probe", self.study.slug, run.pk)

    def context(self) -> dict[str, Any]:
        return super().context() | self.estimated


@requires(get=Capability.RUN_MODELS)
def probe_estimate(request: HttpRequest, study: str) -> HttpResponse:
    """Return the estimate of the submitted form as a fragment of the page."""
    current_study = study_for(request, study)
    form = ProbeForm(request.GET or nothing_chosen(current_study), study=current_study)
    return render(request, "generation/probing/_estimate.html", _estimated(current_study, form))


class ProbeRunView(StudyView):
    """Base class of views whose address names a probe run."""

    leads_to = "generation:probe"
    run: ProbeRun

    def load(self) -> None:
        super().load()
        self.run = probe_run_of(self.study, self.kwargs["run"])

    def place(self) -> tuple[Any, ...]:
        return (*super().place(), self.kwargs["run"])


@requires(get=Capability.SEE_IMAGES, post=Capability.RUN_MODELS)
class Probe(ProbeRunView, FormPage[PriceForm]):
    """Show progress, cost, models and failures of a run; a lead can change its prices and budget."""

    template_name = "generation/probing/run.html"

    def make_form(self, data: Any) -> PriceForm:
        names = ("price_in", "price_out", "budget")
        return PriceForm(data, initial={name: getattr(self.run, name) for name in names})

    def call(self) -> str:
        change_prices(run=self.run, prices=Prices(**self.form.cleaned_data), by=self.by)
        return "The prices and the budget were changed."

    def context(self) -> dict[str, Any]:
        served = served_models(self.run, most=_MOST_SERVED + 1)
        return super().context() | {
            "line": lines_of([self.run])[0],
            "served": served[:_MOST_SERVED],
            "more_served": len(served) > _MOST_SERVED,
            "most_failures": MOST_FAILURES,
            "reasons": failure_reasons(self.run),
            "parameters": parameter_words(self.run),
            "batches": self.run.batches.order_by("-pk")[:_MOST_BATCHES],
        }


@requires(post=Capability.RUN_MODELS)
class ProbeGoOn(ProbeRunView, Button):
    """Queues the remaining questions."""

    def call(self) -> str:
        launch.start(run=self.run, by=self.by)
        return "The remaining questions are queued."


@requires(post=Capability.RUN_MODELS)
class ProbeRetry(ProbeRunView, Button):
    """Queues the failed and remaining questions."""

    def call(self) -> str:
        launch.go_on(run=self.run, by=self.by)
        return "The questions that failed are queued again."


@requires(post=Capability.RUN_MODELS)
class ProbeCancel(ProbeRunView, Button):
    """Cancels the run's job."""

    def call(self) -> str:
        if self.run.job is None:
            raise Conflict("job_ended", "This run has no job to cancel.")
        cancel(job=self.run.job, by=self.by)
        return "The run will stop after the questions that are being asked now. You can resume the run later."


def _estimated(study: Study, form: ProbeForm) -> dict[str, Any]:
    counted = None
    if form.is_valid():
        try:
            counted = estimates.estimate(form.plan(study))
        except DomainError as error:
            show_refusal(form, error)
    return {"study": study, "form": form, "estimate": counted}
