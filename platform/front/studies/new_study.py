"""The New study page: nothing is written until the lead creates it."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_http_methods, require_POST

from annotation.lead.forms import NewStudyForm
from annotation.lead.page_context import person, typed
from catalog.models import Resource
from catalog.raters import RaterPools
from foundation.errors import DomainError, Forbidden
from generation.prompts.creation import create_study_with_prompts
from generation.prompts.placeholders import render as render_prompt
from studies.protocol.groups import NO_REGION, GroupChoice, by_region, group_choices
from studies.protocol.totals import study_totals
from web.form_page import show_refusal

# A longer list starts with its regions folded.
OPEN_AT_MOST = 30


@dataclass(frozen=True)
class RegionOfChoices:
    """A region of the form: its groups as (choice, chosen, shown)."""

    name: str
    rows: list[tuple[GroupChoice, bool, bool]]
    open: bool

    @property
    def chosen(self) -> int:
        return sum(chosen for _, chosen, _ in self.rows)

    @property
    def shown(self) -> int:
        return sum(is_shown for _, _, is_shown in self.rows)


@login_required
@require_http_methods(["GET", "POST"])
def new_study(request: HttpRequest) -> HttpResponse:
    """Choose a resource, then groups, prompts and thresholds; create on the lead's word."""
    _require_lead(request)
    slug = typed(request.POST.get("resource") or request.GET.get("resource"))
    if not slug:
        resources = Resource.objects.annotate(n_groups=Count("groups", distinct=True)).filter(n_groups__gt=0)
        return render(request, "front/studies/choose_resource.html", {"resources": resources})
    page = NewStudyPage(request, get_object_or_404(Resource, slug=slug))
    if request.method == "POST" and request.POST.get("action") == "create" and page.form.is_valid():
        try:
            study = create_study_with_prompts(
                resource=page.resource, by=person(request), **page.form.settings()
            )
        except DomainError as error:
            show_refusal(page.form, error)
        else:
            messages.success(request, f"{study.name} is created. Nothing was generated or asked yet.")
            return redirect("studies:detail", study.slug)
    status = 400 if page.refused else 200
    return render(request, "front/studies/new_study.html", page.context(), status=status)


@login_required
@require_POST
def new_study_totals(request: HttpRequest) -> JsonResponse:
    """Answer the totals for the form as it stands, for the page to show without a reload."""
    _require_lead(request)
    page = NewStudyPage(request, get_object_or_404(Resource, slug=typed(request.POST.get("resource"))))
    context = page.context()
    return JsonResponse(
        {
            "totals": render_to_string("front/studies/_totals.html", context, request),
            "examples": render_to_string("front/studies/_prompt_examples.html", context, request),
            "groups": {
                str(choice.pk): {"shown": is_shown, "stereotypes": choice.stereotypes}
                for region in context["regions"]
                for choice, _, is_shown in region.rows
            },
        }
    )


class NewStudyPage:
    """The form as it stands, and what follows from it even while parts of it are wrong."""

    def __init__(self, request: HttpRequest, resource: Resource) -> None:
        self.resource = resource
        self.posted = request.method == "POST"
        self.creating = request.POST.get("action") == "create"
        region_names = set(resource.groups.values_list("region", flat=True))
        regions = sorted(region_names - {""}) + ([NO_REGION] if "" in region_names else [])
        self.form = NewStudyForm(request.POST if self.posted else None, resource=resource, regions=regions)
        if not self.form.is_valid() and not self.creating:
            self._forgive_what_is_not_filled_in_yet(request)
        self.values: dict[str, Any] = getattr(self.form, "cleaned_data", {})
        self.choices = group_choices(
            resource,
            min_raters=self._number("min_raters"),
            rater_pools=self.values.get("rater_pools") or RaterPools.SEPARATE,
        )
        self.shown = {choice.pk for choice in self.choices if self.form.filters().shows(choice)}
        self.chosen = self._chosen(request.POST.getlist("groups"), request.POST.get("select", ""))

    def _forgive_what_is_not_filled_in_yet(self, request: HttpRequest) -> None:
        for name in list(self.form.errors):
            if not request.POST.get(name):
                del self.form.errors[name]

    @property
    def refused(self) -> bool:
        return self.creating and bool(self.form.errors)

    def _number(self, name: str) -> int:
        value = self.values.get(name)
        return int(self.form.fields[name].initial if value is None else value)

    def _chosen(self, ticked: Collection[str], select: str) -> set[int]:
        """Apply the 'select all' button that was pressed to the boxes that were ticked."""
        choice_of = {choice.pk: choice for choice in self.choices}
        chosen = {int(pk) for pk in ticked if pk.isdecimal() and int(pk) in choice_of}
        extent, _, region = select.partition(":")
        touched = {pk for pk in self.shown if not region or choice_of[pk].region == region}
        if extent == "all":
            return chosen | touched
        return chosen - touched if extent == "none" else chosen

    def context(self) -> dict[str, Any]:
        templates = self._templates()
        per_prompt = self._number("images_per_prompt")
        totals = study_totals(
            self.choices,
            chosen=self.chosen,
            prompts=len(templates),
            images_per_prompt=per_prompt,
            min_stereotypes=self._number("min_stereotypes"),
        )
        return {
            "resource": self.resource,
            "form": self.form,
            "filters": [self.form[name] for name in self.form.FILTERS],
            "regions": self._regions(),
            "hidden_chosen": len(self.chosen - self.shown),
            "shown": len(self.shown),
            "totals": totals,
            "per_prompt": per_prompt,
            "examples": self._examples(templates),
        }

    def _templates(self) -> list[str]:
        if not self.posted:
            return str(self.form.fields["templates"].initial).splitlines()
        return self.values.get("templates") or []

    def _examples(self, templates: list[str]) -> list[str]:
        example = next((c for c in self.choices if c.pk in self.chosen), None) or next(
            iter(self.choices), None
        )
        return [render_prompt(text, group=example.name) for text in templates] if example else []

    def _regions(self) -> list[RegionOfChoices]:
        unfolded = len(self.shown) <= OPEN_AT_MOST
        return [
            RegionOfChoices(name, [(c, c.pk in self.chosen, c.pk in self.shown) for c in rows], unfolded)
            for name, rows in by_region(self.choices).items()
        ]


def _require_lead(request: HttpRequest) -> None:
    if not request.user.is_authenticated or not request.user.leads:
        raise Forbidden("not_a_lead", "Only a project lead may create studies.")
