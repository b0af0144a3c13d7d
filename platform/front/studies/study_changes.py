"""Pages to change a study, list its groups, and delete it."""

from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render

from accounts.models import User
from accounts.rights import Capability, requires
from annotation.lead.forms import DeleteStudyForm, DescriptionForm, StudyTextForm
from annotation.lead.page_context import page_of, person, study_context
from catalog.models import Resource
from foundation.errors import Conflict, DomainError
from front.studies import deletion
from front.studies.new_study import StudyFormPage, own_prompts, totals_of
from generation.prompts.creation import set_prompts
from studies.access import study_for
from studies.models import Study
from studies.protocol.changes import change_study
from studies.study_view import StudyView
from web.form_page import FormPage, show_refusal

GROUPS_PER_PAGE = 200


@transaction.atomic
def save_study(
    *,
    study: Study,
    by: User,
    templates: list[str] | None = None,
    images_per_prompt: int | None = None,
    **changes: Any,
) -> Study:
    """Change a study and its prompts in one transaction."""
    changed = change_study(study=study, by=by, **changes)
    if templates is not None and images_per_prompt is not None:
        stored = [(prompt.text, prompt.images_per_prompt) for prompt in own_prompts(study)]
        if stored != [(text, images_per_prompt) for text in templates]:
            set_prompts(study=changed, templates=templates, images_per_prompt=images_per_prompt, by=by)
    return changed


@requires(get=Capability.MANAGE_STUDY, post=Capability.MANAGE_STUDY)
def study_edit(request: HttpRequest, study: str) -> HttpResponseBase:
    """Edit a study: all settings until it is frozen, then only the description."""
    lead_study = study_for(request, study)
    resource = _resource_of_form(lead_study)
    if resource is None:
        return StudyText.as_view()(request, study=study)
    page = StudyFormPage(request, resource, lead_study)
    if page.to_save and page.form.is_valid():
        try:
            save_study(study=lead_study, by=person(request), **page.form.settings())
        except DomainError as error:
            show_refusal(page.form, error)
        else:
            messages.success(request, "The study was changed.")
            return redirect("studies:detail", study)
    status = 400 if page.refused else 200
    return render(request, "front/studies/new_study.html", page.context(), status=status)


@requires(post=Capability.MANAGE_STUDY)
def study_totals(request: HttpRequest, study: str) -> JsonResponse:
    """Return the totals of the submitted form as JSON, for an update of the page."""
    lead_study = study_for(request, study)
    resource = _resource_of_form(lead_study)
    if resource is None:
        raise Conflict("study_not_editable", "Groups and prompts of this study cannot change.")
    return totals_of(request, StudyFormPage(request, resource, lead_study))


def _resource_of_form(study: Study) -> Resource | None:
    """Return the resource of a ViSAGe study that is not frozen, whose groups can be chosen; else None."""
    may_change = study.protocol == Study.Protocol.VISAGE and study.frozen_at is None
    return study.resource if may_change else None


class StudyText(StudyView, FormPage[forms.Form]):
    """Edit the description of a study, and its name until it is frozen."""

    template_name = "front/studies/edit_text.html"
    leads_to = "studies:detail"

    def make_form(self, data: Any) -> forms.Form:
        form_class = StudyTextForm if self.study.frozen_at is None else DescriptionForm
        return form_class(data, initial={"name": self.study.name, "description": self.study.description})

    def call(self) -> str:
        change_study(study=self.study, by=self.by, **self.form.cleaned_data)
        return "The study was changed."


@requires(get=Capability.SEE_STUDY)
def study_groups(request: HttpRequest, study: str) -> HttpResponse:
    """List the identity groups of a study."""
    context = study_context(request, study)
    groups = context["study"].groups.order_by("region", "display_name")
    return render(
        request,
        "front/studies/groups.html",
        context | {"page": page_of(request, groups, per_page=GROUPS_PER_PAGE)},
    )


@requires(get=Capability.MANAGE_STUDY, post=Capability.MANAGE_STUDY)
class StudyDelete(StudyView, FormPage[DeleteStudyForm]):
    """Delete a study without labels, confirmed by typing its name."""

    template_name = "front/studies/delete.html"
    form_class = DeleteStudyForm

    def call(self) -> HttpResponse:
        deletion.delete_study(study=self.study, typed_name=self.form.cleaned_data["name"], by=self.by)
        return self.redirect_with(f"{self.study.name} is deleted.", "studies:list")

    def context(self) -> dict[str, Any]:
        return super().context() | {
            "obstacles": deletion.obstacles(self.study),
            "contents": deletion.contents_of(self.study),
        }
