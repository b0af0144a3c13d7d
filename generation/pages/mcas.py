"""The New study page of MCAS; nothing is stored until the lead creates the study."""

from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.models import User
from accounts.rights import Capability, requires
from generation.pages.mcas_form import McasForm, values_of
from generation.prompts.mcas import create_mcas_study
from generation.prompts.sets import prompt_set
from generation.runs.estimates import measured_models
from web.form_page import FormPage

PUBLISHED = "mcas"


@requires(get=Capability.CREATE_STUDIES, post=Capability.CREATE_STUDIES)
class NewMcas(FormPage[McasForm]):
    """Edit two attribute sets and targets, and create the study."""

    template_name = "generation/new_mcas.html"
    action = "create"

    def load(self) -> None:
        self.published = prompt_set(PUBLISHED)
        variant = self.request.GET.get("variant", "")
        if variant in self.published.variants:
            self.published = prompt_set(PUBLISHED, variant=variant)

    def make_form(self, data: Any) -> McasForm:
        if data is not None:
            return McasForm(data)
        # Bind the form, so that totals reflect its initial values; the missing name is not an error yet.
        form = McasForm(values_of(self.published))
        form.errors.pop("name", None)
        return form

    def call(self) -> HttpResponse:
        study = create_mcas_study(
            name=self.form.cleaned_data["name"],
            description=self.form.cleaned_data["description"],
            seed=self.form.cleaned_data["seed"],
            plan=self.form.plan(),
            by=cast("User", self.request.user),
        )
        message = f"{study.name} is created. No images have been generated yet."
        return self.redirect_with(message, "generation:generate", study.slug)

    def context(self) -> dict[str, Any]:
        return _context(self.request, self.form) | {"variants": self.published.variants}


@requires(post=Capability.CREATE_STUDIES)
def new_mcas_totals(request: HttpRequest) -> HttpResponse:
    """Return the totals of the submitted form as a fragment of the page."""
    form = McasForm(request.POST)
    form.is_valid()
    return render(request, "generation/_mcas_totals.html", _context(request, form))


def _context(request: HttpRequest, form: McasForm) -> dict[str, Any]:
    plan = form.plan()
    models = [
        (label, seconds * plan.images) for label, seconds in measured_models(cast("User", request.user))
    ]
    return {"form": form, "plan": plan, "models": models}
