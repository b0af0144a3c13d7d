"""The planner of probe runs: intervals, requests and cost by numbers of scenarios, repeats and models."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.rights import Capability, requires
from analysis.pages.results_page import ResultsPage
from analysis.results import reports
from analysis.results.probing.design import DesignParameters, designs
from foundation.errors import DomainError
from studies.access import study_for
from studies.models import Study


class DesignForm(forms.Form):
    """The designs to compare."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= DesignParameters.form_fields()

    def clean(self) -> dict[str, Any]:
        """Check the fields together."""
        chosen = {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}
        if not self.errors:
            try:
                self.parameters = DesignParameters.read(chosen)
            except DomainError as error:
                for name, message in error.fields.items():
                    self.add_error(name, message)
        return self.cleaned_data


@requires(get=Capability.SEE_RESULTS)
def planner(request: HttpRequest, study: str) -> HttpResponse:
    """Compare designs; a study without results is planned with default assumptions."""
    current_study = study_for(request, study)
    report = reports.latest_report(current_study)
    page = None if report is None else ResultsPage(request, current_study, report, None)
    chosen = {name: value for name, value in request.GET.items() if value}
    form = DesignForm(_of_study(current_study, page) | chosen)
    spread = page.probes.get("spread") if page and page.probes else None
    context = {
        "study": current_study,
        "page": page,
        "is_probing": current_study.asks_models,
        "form": form,
        "spread": spread,
        "designs": designs(form.parameters, spread) if form.is_valid() else [],
    }
    return render(request, "analysis/probing/planner.html", context)


def _of_study(study: Study, page: ResultsPage | None) -> dict[str, Any]:
    """Return the defaults, with the study's numbers of groups, experiments and models."""
    values = {name: DesignParameters.default(name) for name in DesignParameters.model_fields}
    groups = study.groups.count()
    if groups and groups % 2 == 0 and groups <= DesignParameters.declaration("groups").most:
        values["groups"] = groups
    if page and page.probes and page.probes["experiments"]:
        values["experiments"] = len(page.probes["experiments"])
        values["models"] = str(len(page.probes["models"]))
    return values
