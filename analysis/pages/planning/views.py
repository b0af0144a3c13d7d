"""A study's plan: power and cost of its designs, and its preregistrations."""

import csv
import io
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from accounts.rights import Capability, requires
from analysis.models import Preregistration, StudyPlan
from analysis.pages.planning.forms import PlanForm
from analysis.planning.parameters import PlanParameters
from analysis.planning.people import rules_of_study
from analysis.planning.pilot import assumptions_of
from analysis.planning.plans import latest_plan, make_plan, parameters_of_plan, planned_designs, primary_rows
from analysis.planning.preregistration import preregister
from analysis.plots.figures.plans import power_plot, width_plot
from analysis.results.preregistrations import changes_since
from analysis.results.schema import MARKING
from annotation.models import Campaign
from foundation.errors import DomainError, NotFound
from studies.access import may, study_for
from studies.audit.files import CSV, JSON, recorded_file
from studies.models import Study
from studies.study_view import StudyView
from web.form_page import FormPage

_REGISTRATIONS_SHOWN = 20
_PILOTS_SHOWN = 20


@requires(get=Capability.SEE_RESULTS)
def plan(request: HttpRequest, study: str) -> HttpResponse:
    """Show the newest plan: curves of power and width, and the people, hours and cost of each design."""
    current_study = study_for(request, study)
    newest = latest_plan(current_study)
    registrations = current_study.preregistrations.select_related("created_by")[:_REGISTRATIONS_SHOWN]
    context: dict[str, Any] = {
        "study": current_study,
        "plan": newest,
        "may_change": may(request, current_study, Capability.MANAGE_STUDY),
        "registrations": registrations,
        "changes": changes_since(registrations[0]) if registrations else [],
    }
    if newest is not None:
        rows = primary_rows(newest)
        context |= {
            "designs": planned_designs(newest),
            "parameters": parameters_of_plan(newest),
            "plots": [plot for plot in (power_plot(rows), width_plot(rows)) if plot is not None],
        }
    return render(request, "analysis/planning/plan.html", context)


@requires(get=Capability.MANAGE_STUDY, post=Capability.MANAGE_STUDY)
class NewPlan(StudyView, FormPage[PlanForm]):
    """Make a plan; the form starts with the newest plan, or with numbers from a pilot."""

    template_name = "analysis/planning/new.html"
    form_class = PlanForm
    leads_to = "planning:plan"
    problem = ""
    pilot: Campaign | None = None

    def make_form(self, data: Any) -> PlanForm:
        return PlanForm(data) if data is not None else PlanForm(initial=self._initial())

    def _initial(self) -> dict[str, Any]:
        newest = latest_plan(self.study)
        values = {name: PlanParameters.default(name) for name in PlanParameters.model_fields}
        values["groups"] = self.study.groups.count() or values["groups"]
        values["primary_measure"] = _measure_for(values["groups"])
        values["quotas"] = rules_of_study(self.study)
        if newest is not None:
            values |= newest.parameters
            values |= {"hypothesis": newest.hypothesis, "primary_measure": newest.primary_measure}
        return values | self._of_pilot()

    def _of_pilot(self) -> dict[str, Any]:
        slug = self.request.GET.get("pilot", "")
        if not slug:
            return {}
        self.pilot = get_object_or_404(self.study.campaigns, slug=slug)
        try:
            return assumptions_of(self.pilot)
        except DomainError as error:
            self.pilot, self.problem = None, error.message
            return {}

    def context(self) -> dict[str, Any]:
        pilots = self.study.campaigns.filter(kind=MARKING).exclude(state=Campaign.State.DRAFT)
        return {
            **super().context(),
            "pilots": pilots.order_by("-pk")[:_PILOTS_SHOWN],
            "pilot": self.pilot,
            "problem": self.problem,
        }

    def call(self) -> str:
        make_plan(
            study=self.study,
            hypothesis=self.form.cleaned_data["hypothesis"],
            primary_measure=self.form.cleaned_data["primary_measure"],
            parameters=self.form.parameters(),
            by=self.by,
        )
        return "The plan is being computed. This page follows the progress."


def _measure_for(groups: int) -> str:
    return StudyPlan.Measure.THETA if groups < 2 else StudyPlan.Measure.THETA_POOLED


@requires(get=Capability.MANAGE_STUDY, post=Capability.MANAGE_STUDY)
class Preregister(StudyView, FormPage[forms.Form]):
    """Preregister the current plan and design, after confirmation."""

    template_name = "analysis/planning/preregister.html"
    form_class = forms.Form
    leads_to = "planning:plan"

    def load(self) -> None:
        super().load()
        newest = latest_plan(self.study)
        if newest is None:
            raise NotFound("no_plan", "This study has no plan yet.")
        self.plan = newest

    def context(self) -> dict[str, Any]:
        return {**super().context(), "plan": self.plan}

    def call(self) -> str:
        registration = preregister(study=self.study, plan=self.plan, by=self.by)
        return (
            f"Preregistration {registration.number} is saved. The SHA-256 of the preregistration is "
            f"{registration.sha256}."
        )


@requires(get=Capability.SEE_RESULTS)
def preregistration(request: HttpRequest, study: str, number: int) -> HttpResponse:
    """Download a preregistration exactly as stored."""
    current_study = study_for(request, study)
    registration = get_object_or_404(Preregistration, study=current_study, number=number)
    name = f"preregistration-{number}.json"
    return recorded_file(
        registration.document, by=request.user, study=current_study, name=name, content_type=JSON
    )


@requires(get=Capability.SEE_RESULTS)
def designs_csv(request: HttpRequest, study: str) -> HttpResponse:
    """Download the designs of the newest plan."""
    current_study: Study = study_for(request, study)
    newest = latest_plan(current_study)
    if newest is None:
        raise NotFound("no_plan", "This study has no plan yet.")
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(
        ["images", "annotators", "annotators_per_task", "groups", "half_width", "power", "power_se", "screens",
         "hours", "hours_each", "days", "pay", "fees", "cost", "currency", "people"]
    )  # fmt: skip
    currency = newest.parameters["pay_currency"]
    for line in planned_designs(newest):
        design, work = line.design, line.work
        writer.writerow(
            [design.images, design.annotators, design.annotators_per_task, design.groups, line.half_width,
             line.power, line.power_se, work.screens, round(work.hours, 4), round(work.hours_each, 4), work.days,
             work.pay, work.fees, work.cost, currency,
             "; ".join(f"{people.name}: {people.needed}" for people in line.people)]
        )  # fmt: skip
    return recorded_file(
        table.getvalue(), by=request.user, study=current_study, name="plan.csv", content_type=CSV
    )
