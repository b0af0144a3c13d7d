"""The New study page; nothing is stored until the lead creates the study."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string

from accounts.rights import Capability, requires
from annotation.lead.forms import NewStudyForm, StudyForm
from annotation.lead.page_context import person, typed
from catalog.models import Resource
from catalog.raters import RaterPools
from foundation.errors import DomainError
from generation.models import Condition, PromptTemplate
from generation.prompts.creation import create_study_with_prompts
from generation.prompts.placeholders import render as render_prompt
from studies.models import Study
from studies.protocol.changes import RULE
from studies.protocol.groups import NO_REGION, GroupChoice, by_region, group_choices
from studies.protocol.totals import study_totals
from web.form_page import show_refusal

# In longer lists, regions are collapsed at first.
OPEN_AT_MOST = 30


@dataclass(frozen=True)
class RegionOfChoices:
    """A region of the form, with its groups as (choice, chosen, shown)."""

    name: str
    rows: list[tuple[GroupChoice, bool, bool]]
    open: bool

    @property
    def chosen(self) -> int:
        return sum(chosen for _, chosen, _ in self.rows)

    @property
    def shown(self) -> int:
        return sum(is_shown for _, _, is_shown in self.rows)


@requires(get=Capability.CREATE_STUDIES, post=Capability.CREATE_STUDIES)
def new_study(request: HttpRequest) -> HttpResponse:
    """Choose a resource, then groups, prompts and thresholds, and create the study."""
    slug = typed(request.POST.get("resource") or request.GET.get("resource"))
    if not slug:
        resources = Resource.objects.annotate(n_groups=Count("groups", distinct=True)).filter(n_groups__gt=0)
        return render(request, "front/studies/choose_resource.html", {"resources": resources})
    page = StudyFormPage(request, get_object_or_404(Resource, slug=slug))
    if page.to_save and page.form.is_valid():
        try:
            study = create_study_with_prompts(
                resource=page.resource, by=person(request), **page.form.settings()
            )
        except DomainError as error:
            show_refusal(page.form, error)
        else:
            messages.success(request, f"{study.name} is created. No images have been generated yet.")
            return redirect("studies:detail", study.slug)
    status = 400 if page.refused else 200
    return render(request, "front/studies/new_study.html", page.context(), status=status)


@requires(post=Capability.CREATE_STUDIES)
def new_study_totals(request: HttpRequest) -> JsonResponse:
    """Return the totals of the submitted form as JSON, for an update of the page."""
    page = StudyFormPage(request, get_object_or_404(Resource, slug=typed(request.POST.get("resource"))))
    return totals_of(request, page)


def totals_of(request: HttpRequest, page: "StudyFormPage") -> JsonResponse:
    """Return the parts of a page that depend on its form, as JSON."""
    context = page.context()
    return JsonResponse(
        {
            "totals": render_to_string("front/studies/_totals.html", context, request),
            "examples": render_to_string("front/studies/_prompt_examples.html", context, request),
            "chosen": render_to_string("front/studies/_chosen_groups.html", context, request),
            "groups": {
                str(choice.pk): {"shown": is_shown, "stereotypes": choice.stereotypes}
                for region in context["regions"]
                for choice, _, is_shown in region.rows
            },
        }
    )


class StudyFormPage:
    """The form of a new or existing study, and the data derived from it even while it is invalid."""

    def __init__(self, request: HttpRequest, resource: Resource, study: Study | None = None) -> None:
        self.resource, self.study = resource, study
        self.posted = request.method == "POST"
        self.to_save = self.posted and request.POST.get("action") in {"create", "save"}
        region_names = set(resource.groups.values_list("region", flat=True))
        regions = sorted(region_names - {""}) + ([NO_REGION] if "" in region_names else [])
        self.form = self._form(request.POST if self.posted else None, regions)
        if not self.form.is_valid() and not self.to_save:
            self._forgive_what_is_not_filled_in_yet(request)
        self.values: dict[str, Any] = getattr(self.form, "cleaned_data", {})
        self.choices = group_choices(
            resource,
            min_raters=self._number("min_raters"),
            rater_pools=self._value("rater_pools") or RaterPools.SEPARATE,
            most=self._value("most_stereotypes"),
        )
        self.shown = {choice.pk for choice in self.choices if self.form.filters().shows(choice)}
        self.chosen = self._chosen(request)

    def _form(self, data: Any, regions: list[str]) -> NewStudyForm:
        if self.study is None:
            return NewStudyForm(data, resource=self.resource, regions=regions)
        prompts = own_prompts(self.study)
        return StudyForm(
            data,
            resource=self.resource,
            regions=regions,
            prompts=bool(prompts),
            initial={
                **{name: getattr(self.study, name) for name in ("name", "description", *RULE)},
                "templates": "\n".join(prompt.text for prompt in prompts),
                "images_per_prompt": prompts[0].images_per_prompt if prompts else None,
            },
        )

    def _forgive_what_is_not_filled_in_yet(self, request: HttpRequest) -> None:
        for name in list(self.form.errors):
            if not request.POST.get(name):
                del self.form.errors[name]

    @property
    def refused(self) -> bool:
        return self.to_save and bool(self.form.errors)

    def _value(self, name: str) -> Any:
        """Return the value of a field: None if invalid, the initial value if the form was not submitted."""
        if self.posted or name not in self.form.fields:
            return self.values.get(name)
        return self.form.get_initial_for_field(self.form.fields[name], name)

    def _number(self, name: str) -> int:
        value = self._value(name)
        return int(self.form.fields[name].initial if value is None else value)

    def _chosen(self, request: HttpRequest) -> set[int]:
        """Return the ticked groups after applying the pressed button."""
        if not self.posted:
            return (
                set()
                if self.study is None
                else set(self.study.groups.values_list("group", flat=True)) - {None}
            )
        choice_of = {choice.pk: choice for choice in self.choices}
        chosen = {pk for pk in _numbers(request.POST.getlist("groups")) if pk in choice_of}
        chosen -= set(_numbers(request.POST.getlist("leave_out")))
        extent, _, region = request.POST.get("select", "").partition(":")
        touched = {pk for pk in self.shown if not region or choice_of[pk].region == region}
        if extent == "all":
            return chosen | touched
        return chosen - touched if extent == "none" else chosen

    def context(self) -> dict[str, Any]:
        templates = self._templates()
        per_prompt = self._number("images_per_prompt") if "images_per_prompt" in self.form.fields else 0
        totals = study_totals(
            self.choices,
            chosen=self.chosen,
            prompts=len(templates),
            images_per_prompt=per_prompt,
            min_stereotypes=self._number("min_stereotypes"),
        )
        return {
            "resource": self.resource,
            "study": self.study,
            "form": self.form,
            "filters": [self.form[name] for name in self.form.FILTERS],
            "regions": self._regions(),
            "chosen_groups": [choice for choice in self.choices if choice.pk in self.chosen],
            "unfold_chosen": len(self.chosen) <= OPEN_AT_MOST,
            "hidden_chosen": len(self.chosen - self.shown),
            "shown": len(self.shown),
            "totals": totals,
            "per_prompt": per_prompt,
            "examples": self._examples(templates),
        }

    def _templates(self) -> list[str]:
        value = self._value("templates") or []
        return value.splitlines() if isinstance(value, str) else value

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


def own_prompts(study: Study) -> list[PromptTemplate]:
    """Return a lead's own prompts if all have the same number of images, so that the form can edit them."""
    prompts = list(
        study.prompt_templates.filter(condition=Condition.DEFAULT, prompt_set="").order_by("position")
    )
    return prompts if len({prompt.images_per_prompt for prompt in prompts}) == 1 else []


def _numbers(values: list[str]) -> list[int]:
    return [int(value) for value in values if value.isascii() and value.isdecimal() and len(value) < 19]
