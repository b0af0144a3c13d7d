"""Pages that create and change a draft, with an estimate of what it would ask."""

from typing import Any

from django.forms import ChoiceField
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.rights import Capability, requires
from annotation.assignment import quota_rules
from annotation.campaigns import feasibility, lifecycle
from annotation.campaigns.planning.estimate import estimate
from annotation.kinds.registry import frozen, kind_of
from annotation.kinds.study_kinds import kind_for, kinds_for
from annotation.lead.campaigns.draft_form import CampaignForm, form_of
from annotation.lead.page_context import campaign_of, typed
from annotation.models import Campaign
from foundation.errors import Conflict, DomainError
from studies.access import study_for
from studies.models import Study
from studies.study_view import StudyView
from web.form_page import FormPage


class DraftForm(StudyView, FormPage[CampaignForm]):
    """The form of a draft, with an estimate of what its campaign would ask."""

    template_name = "annotation/lead/campaigns/drafts/form.html"
    action = "save"
    kind: str
    draft: Campaign | None = None

    def make_form(self, data: Any) -> CampaignForm:
        return _form(data, self.study, self.kind, self.draft)

    def context(self) -> dict[str, Any]:
        refused = self.form.is_bound and bool(self.form.errors)
        return super().context() | {
            "campaign": self.draft,
            "kind_words": self.form.declared.name,
            **({} if refused else _asking(self.study, self.form, self.draft)),
        }


@requires(get=Capability.RUN_CAMPAIGNS, post=Capability.RUN_CAMPAIGNS)
class CampaignNew(DraftForm):
    """Choose a kind, then settings; saving creates a draft."""

    def instead(self) -> HttpResponse | None:
        self.kind = self.request.POST.get("kind") or self.request.GET.get("kind") or ""
        if self.kind:
            return None
        page = "annotation/lead/campaigns/drafts/choose_kind.html"
        kinds = kinds_for(self.study).values()
        return render(self.request, page, {"study": self.study, "may_change": True, "kinds": kinds})

    def make_form(self, data: Any) -> CampaignForm:
        form = super().make_form(data)
        source = typed(self.request.GET.get("visual_source"))
        if data is None and _offers(form, "visual_source", source):
            form.initial["visual_source"] = source
        return form

    def call(self) -> HttpResponse:
        campaign = lifecycle.create(study=self.study, kind=self.kind, by=self.by, **self.form.settings())
        message = "The draft is saved. Check the preview, then open the campaign."
        return self.redirect_with(message, "annotation:campaign", self.study.slug, campaign.slug)


@requires(get=Capability.RUN_CAMPAIGNS, post=Capability.RUN_CAMPAIGNS)
class CampaignEdit(DraftForm):
    """Change a draft."""

    leads_to = "annotation:campaign"
    draft: Campaign

    def load(self) -> None:
        super().load()
        self.draft = campaign_of(self.study, self.kwargs["campaign"])
        self.kind = self.draft.kind
        if self.draft.state != Campaign.State.DRAFT:
            raise Conflict(
                "wrong_state",
                f"“{self.draft.name}” is {self.draft.state}. The questions were fixed when the campaign "
                "opened.",
            )

    def place(self) -> tuple[Any, ...]:
        return (self.study.slug, self.draft.slug)

    def call(self) -> str:
        lifecycle.update_draft(campaign=self.draft, by=self.by, **self.form.settings())
        return "The draft is changed."


@requires(post=Capability.RUN_CAMPAIGNS)
def draft_asking(request: HttpRequest, study: str) -> HttpResponse:
    """Return the estimate for the form's current values, as a fragment of the page."""
    lead_study = study_for(request, study)
    draft = lead_study.campaigns.filter(slug=typed(request.POST.get("campaign"))).first()
    form = _form(request.POST, lead_study, request.POST.get("kind", ""), draft)
    form.is_valid()
    return render(
        request,
        "annotation/lead/campaigns/_estimate.html",
        {"study": lead_study, **_asking(lead_study, form, draft)},
    )


def _form(data: Any, study: Study, kind: str, draft: Campaign | None) -> CampaignForm:
    try:
        declared = kind_for(study, typed(kind)) if draft is None else kind_of(draft)
    except DomainError:
        raise Http404("This kind of campaign does not exist.") from None
    return form_of(declared)(data, kind=declared, study=study, campaign=draft)


def _offers(form: CampaignForm, name: str, value: str) -> bool:
    field = form.fields.get(name)
    return isinstance(field, ChoiceField) and field.valid_value(value)


def _asking(study: Study, form: CampaignForm, draft: Campaign | None) -> dict[str, Any]:
    """Return the estimate for a campaign with the form's values, and its cells; nothing if they are invalid."""
    if form.is_bound and not form.is_valid():
        return {}
    settings = form.settings() if form.is_bound else form.initial_settings()
    values = {name: value for name, value in settings.items() if name not in {"guidelines", "quotas"}}
    seed, declaration = (draft or study).seed, frozen(form.declared)
    campaign = Campaign(study=study, kind=form.kind, declaration=declaration, seed=seed, **values)
    asking = estimate(campaign)
    rules = quota_rules.parse(
        settings["quotas"], annotators_per_task=campaign.annotators_per_task, kind=form.declared
    )
    cells = feasibility.people_of_draft(campaign, rules, asking.plan, people_of=draft)
    return {"asking": asking, "cells": cells}
