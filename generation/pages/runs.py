"""Planning, starting and watching generation runs."""

from typing import Any, cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import User
from foundation.errors import DomainError
from generation.pages.forms import GenerateForm, show_refusal
from generation.runs import estimates, launch, planning
from generation.runs.overview import runs_of
from studies.access import LEAD, study_for
from studies.models import Study

_NOTHING_CHOSEN = {"backend": "sketch", "default_probability": 0.1}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def generate(request: HttpRequest, study: str) -> HttpResponse:
    """Count what a run would make; start it."""
    found = study_for(request.user, study, role=LEAD)
    starts = request.method == "POST"
    form = GenerateForm(request.POST if starts else request.GET or _NOTHING_CHOSEN, study=found)
    context = _estimated(found, form)
    if starts and form.is_valid():
        try:
            by = cast("User", request.user)
            run = planning.plan_run(study=found, by=by, **form.plan())
            job = launch.start(run=run, by=by, workers=form.cleaned_data["workers"] or 1)
            return redirect("jobs:detail", pk=job.pk)
        except DomainError as error:
            show_refusal(form, error)
    context |= {"templates": found.prompt_templates.all(), "runs": runs_of(found)}
    return render(request, "generation/generate.html", context, status=400 if starts else 200)


@login_required
@require_safe
def estimate(request: HttpRequest, study: str) -> HttpResponse:
    """Answer what the form as it stands comes to, for the page to show without a reload."""
    found = study_for(request.user, study, role=LEAD)
    form = GenerateForm(request.GET or _NOTHING_CHOSEN, study=found)
    return render(request, "generation/_estimate.html", _estimated(found, form))


@login_required
@require_POST
def go_on(request: HttpRequest, study: str, run: int) -> HttpResponse:
    """Ask again for what failed, and make what is left."""
    found = study_for(request.user, study, role=LEAD)
    wanted = get_object_or_404(found.generation_runs, pk=run)
    return redirect("jobs:detail", pk=launch.go_on(run=wanted, by=cast("User", request.user)).pk)


def _estimated(study: Study, form: GenerateForm) -> dict[str, Any]:
    counted = None
    if form.is_valid():
        try:
            counted = estimates.estimate(study=study, **form.plan())
        except DomainError as error:
            show_refusal(form, error)
    return {"study": study, "form": form, "estimate": counted}
