"""The scenarios of a study: their images side by side, people's verdicts, and drawing failed scenarios again."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.paginator import Page
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.rights import Capability, requires
from annotation.answers.questions.scenario_verdicts import (
    UNCHECKED,
    Likeness,
    Scenario,
    ScenarioVerdict,
    scenario_verdicts,
)
from annotation.campaigns.images.redraw import RedrawPlan, plan_redraw, redraw
from annotation.kinds.registry import LIKENESS_CHECK
from annotation.lead.page_context import page_of, study_context
from generation.images.signed_urls import SMALL, image_url
from generation.models import Image
from studies.models import Study
from studies.study_view import StudyView
from web.form_fields import set_choices
from web.form_page import FormPage

PER_PAGE = 20
_TONES = {Likeness.KEPT: "good", Likeness.FAILED: "bad", Likeness.OPEN: "waiting"}


@dataclass(frozen=True)
class ScenarioLine:
    """A scenario in the list, with its images as (address, name of the group)."""

    place: Scenario
    found: ScenarioVerdict | None  # None: no check was ever opened
    images: Sequence[tuple[str, str]]

    @property
    def tone(self) -> str:
        return _TONES[self.found.verdict] if self.found else ""


@requires(get=Capability.SEE_IMAGES)
def scenario_list(request: HttpRequest, study: str) -> HttpResponse:
    """Show scenarios with people's verdicts; `verdict` in the address filters them."""
    context = study_context(request, study)
    verdicts = scenario_verdicts(context["study"])
    places = _places(context["study"])
    chosen = request.GET.get("verdict", "")
    chosen = chosen if verdicts is not None and chosen in Likeness.values else ""
    shown = [place for place in places if not chosen or _found(verdicts, place).verdict == chosen]
    page: Page[Any] = page_of(request, shown, per_page=PER_PAGE)
    numbers = dict.fromkeys(Likeness, 0)
    for place in places if verdicts is not None else ():
        numbers[_found(verdicts, place).verdict] += 1
    context |= {
        "page": page,
        "lines": _lines(context["study"], list(page.object_list), verdicts, viewer=f"user:{request.user.pk}"),
        "groups": _groups(context["study"]),
        "number": len(places),
        "checked": verdicts is not None,
        "numbers": [(verdict.value, verdict.label, number) for verdict, number in numbers.items()],
        "failed": numbers[Likeness.FAILED],
        "chosen": chosen,
        "check": LIKENESS_CHECK.key,
        # Someone who turns the page or filters has read the warning.
        "warned": bool(chosen) or page.number > 1,
    }
    return render(request, "annotation/lead/scenarios/list.html", context)


class RedrawForm(forms.Form):
    """Which failed scenarios are drawn again."""

    scenarios = forms.MultipleChoiceField(
        label="Scenarios that failed",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one scenario."},
    )

    def __init__(self, data: Any, *, plan: RedrawPlan) -> None:
        super().__init__(data)
        choices = [(json.dumps(place), _name(place)) for place in plan.scenarios]
        set_choices(self, "scenarios", choices)
        self.fields["scenarios"].initial = [value for value, _ in choices]

    def chosen(self) -> list[Scenario]:
        return [Scenario(*json.loads(value)) for value in self.cleaned_data["scenarios"]]


@requires(get=Capability.RUN_MODELS, post=Capability.RUN_MODELS)
class ScenariosRedraw(StudyView, FormPage[RedrawForm]):
    """Shows an estimate for drawing failed scenarios again, and does it."""

    template_name = "annotation/lead/scenarios/redraw.html"
    leads_to = "annotation:scenarios"

    def make_form(self, data: Any) -> RedrawForm:
        self.planned = plan_redraw(self.study)
        return RedrawForm(data, plan=self.planned)

    def call(self) -> str:
        chosen = self.form.chosen()
        redraw(study=self.study, scenarios=chosen, by=self.by)
        noun = "scenario is" if len(chosen) == 1 else "scenarios are"
        return f"{len(chosen):,} {noun} drawn again. Open a check of the new images when they are ready."

    def context(self) -> dict[str, Any]:
        names = [_name(place) for place in self.planned.imported]
        return super().context() | {"planned": self.planned, "imported": names}


def _name(place: Scenario) -> str:
    return f"{place.experiment or 'no experiment'}: {place.scenario}, by {place.model}"


def _found(verdicts: Mapping[Scenario, ScenarioVerdict] | None, place: Scenario) -> ScenarioVerdict:
    return (verdicts or {}).get(place, UNCHECKED)


def _places(study: Study) -> list[Scenario]:
    images = Image.objects.filter(study=study).exclude(scenario="").order_by()
    return sorted(
        Scenario(*place) for place in images.values_list("experiment", "scenario", "model_label").distinct()
    )


def _lines(
    study: Study,
    places: Collection[Scenario],
    verdicts: Mapping[Scenario, ScenarioVerdict] | None,
    *,
    viewer: str,
) -> list[ScenarioLine]:
    images: dict[Scenario, list[tuple[str, str]]] = defaultdict(list)
    rows = Image.objects.filter(
        study=study, retracted_at=None, scenario__in={place.scenario for place in places}
    )
    for image in rows.exclude(file="").select_related("group").order_by("group__name", "pk"):
        group = image.group.display_name if image.group else ""
        images[Scenario(image.experiment, image.scenario, image.model_label)].append(
            (image_url(image, viewer=viewer, size=SMALL), group)
        )
    return [
        ScenarioLine(place, None if verdicts is None else _found(verdicts, place), images[place])
        for place in places
    ]


def _groups(study: Study) -> list[tuple[str, list[tuple[str, str]], int]]:
    """Return name, factors and number of images of each group, in the order of the names."""
    standing = Count("images", filter=Q(images__retracted_at=None))
    groups = study.groups.annotate(image_count=standing).order_by("name")
    return [(group.display_name, sorted(group.factors.items()), group.image_count) for group in groups]
