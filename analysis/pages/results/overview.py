"""The main results of a study, and the request to compute them again."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts.rights import Capability, requires, signed_in_user
from analysis.pages.parameters_form import ParametersForm
from analysis.pages.results_page import ResultsPage, results_page
from analysis.plots.figures.judgements import theta_plot
from analysis.results import reports
from analysis.results.data.exclusions import not_counted_words
from analysis.results.output.report_pdf import can_make_pdf
from analysis.results.preregistrations import latest_registration
from analysis.results.summaries.headline_rows import headline_by_mode, sensitivity_rows
from analysis.results.summaries.study_design import study_design
from jobs.models import Job
from studies.access import study_for


@results_page("analysis/results/overview.html")
def overview(page: ResultsPage) -> dict[str, Any]:
    """Show the headline numbers, their inputs, and the reasons for missing numbers."""
    tendency = page.rows("tendency")
    undefined: dict[str, int] = {}
    for row in tendency:
        if row["theta"] is None:
            undefined[row["reason"]] = undefined.get(row["reason"], 0) + 1
    visual = page.table("visual_attributes")
    return {
        "headline": page.headline,
        "can_make_pdf": can_make_pdf(),
        "conventions": headline_by_mode(page.headline, page.report.parameters["none_of_the_above"])
        if page.headline
        else [],
        "plot": theta_plot(tendency, page.names),
        "undefined": sorted(undefined.items(), key=lambda item: -item[1]),
        "not_counted": not_counted_words(page.report.summary),
        "design": study_design(page.study, page.report.summary, latest_registration(page.study)),
        "rated": len(visual),
        "visual": sum(bool(row["visual"]) for row in visual),
        "form": ParametersForm(page.study, initial=page.report.parameters),
        "sensitivity": sensitivity_rows(page.rows("sensitivity"), page.names),
    }


@requires(post=Capability.COMPUTE_RESULTS)
def compute(request: HttpRequest, study: str) -> HttpResponse:
    """Compute the results with the chosen parameters: at once if small, otherwise in a job."""
    current_study = study_for(request, study)
    form = ParametersForm(current_study, request.POST)
    outcome = reports.request_report(
        study=current_study, parameters=form.parameters(), by=signed_in_user(request)
    )
    if isinstance(outcome, Job):
        messages.info(request, "The results are being computed. This page follows the progress.")
    else:
        messages.success(request, "The results are up to date.")
    return redirect("analysis:overview", study=current_study.slug)
