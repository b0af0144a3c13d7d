"""The New study page of MCAS: nothing is written until the lead creates it."""

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import User
from foundation.errors import DomainError, Forbidden
from generation.pages.forms import show_refusal
from generation.pages.mcas_form import McasForm, values_of
from generation.prompts.mcas import create_mcas_study
from generation.prompts.sets import prompt_set
from generation.runs.estimates import measured_models

PUBLISHED = "mcas"


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_mcas(request: HttpRequest) -> HttpResponse:
    """Edit two attribute sets and targets; create on the lead's word."""
    _require_lead(request)
    variant = request.GET.get("variant", "")
    published = prompt_set(PUBLISHED)
    if variant in published.variants:
        published = prompt_set(PUBLISHED, variant=variant)
    if request.method != "POST":
        # Bound, so that totals are those of what stands there; without a name nothing is wrong yet.
        form = McasForm(values_of(published))
        form.is_valid()
        form.errors.pop("name", None)
        return render(
            request, "generation/new_mcas.html", _context(request, form) | {"variants": published.variants}
        )
    form = McasForm(request.POST)
    if form.is_valid() and request.POST.get("action") == "create":
        try:
            study = create_mcas_study(
                name=form.cleaned_data["name"],
                description=form.cleaned_data["description"],
                seed=form.cleaned_data["seed"],
                plan=form.plan(),
                by=cast("User", request.user),
            )
        except DomainError as error:
            show_refusal(form, error)
        else:
            messages.success(request, f"{study.name} is created. Nothing was generated yet.")
            return redirect("generation:generate", study.slug)
    context = _context(request, form) | {"variants": published.variants}
    return render(request, "generation/new_mcas.html", context, status=400 if form.errors else 200)


@login_required
@require_POST
def new_mcas_totals(request: HttpRequest) -> HttpResponse:
    """Answer the totals for the form as it stands, for the page to show without a reload."""
    _require_lead(request)
    form = McasForm(request.POST)
    form.is_valid()
    return render(request, "generation/_mcas_totals.html", _context(request, form))


def _context(request: HttpRequest, form: McasForm) -> dict[str, Any]:
    plan = form.plan()
    models = [
        (label, seconds * plan.images) for label, seconds in measured_models(cast("User", request.user))
    ]
    return {"form": form, "plan": plan, "models": models}


def _require_lead(request: HttpRequest) -> None:
    if not request.user.is_authenticated or not request.user.leads:
        raise Forbidden("not_a_lead", "Only a project lead may create studies.")
