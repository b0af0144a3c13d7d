"""Making and changing a campaign's draft, with what it would ask as one changes it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation.campaigns import lifecycle
from annotation.campaigns.planning.estimate import Asking, asking
from annotation.lead.campaigns.draft_form import FORMS, CampaignForm
from annotation.lead.forms import show_refusal
from annotation.lead.page_context import campaign_for_lead, person, typed
from annotation.models import Campaign
from foundation.errors import Conflict, DomainError
from studies.access import LEAD, study_for
from studies.models import Study


@login_required
@require_http_methods(["GET", "POST"])
def campaign_new(request: HttpRequest, study: str) -> HttpResponse:
    """Choose a kind, then settings; saving makes a draft that asks nobody anything."""
    found = study_for(request.user, study, role=LEAD)
    kind = request.POST.get("kind") or request.GET.get("kind")
    if not kind:
        return render(
            request, "annotation/lead/campaigns/drafts/choose_kind.html", {"study": found, "may_change": True}
        )
    form = _form(request, found, kind)
    if request.method == "POST" and form.is_valid() and request.POST.get("action") == "save":
        try:
            campaign = lifecycle.create(study=found, kind=kind, by=person(request), **form.settings())
        except DomainError as error:
            show_refusal(form, error)
        else:
            messages.success(request, "The draft is saved. Look at the preview, then open it.")
            return redirect("annotation:campaign", study, campaign.slug)
    return _page(request, found, form, None)


@login_required
@require_http_methods(["GET", "POST"])
def campaign_edit(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Change a draft."""
    draft = campaign_for_lead(request, study, campaign)
    if draft.state != Campaign.State.DRAFT:
        raise Conflict(
            "wrong_state", f"“{draft.name}” is {draft.state}: what it asks was fixed when it opened."
        )
    form = _form(request, draft.study, draft.kind, draft)
    if request.method == "POST" and form.is_valid() and request.POST.get("action") == "save":
        try:
            lifecycle.update_draft(campaign=draft, by=person(request), **form.settings())
        except DomainError as error:
            show_refusal(form, error)
        else:
            messages.success(request, "The draft is changed.")
            return redirect("annotation:campaign", study, draft.slug)
    return _page(request, draft.study, form, draft)


@login_required
@require_POST
def draft_asking(request: HttpRequest, study: str) -> HttpResponse:
    """Answer what the form as it stands would ask, for the page to show without a reload."""
    found = study_for(request.user, study, role=LEAD)
    draft = found.campaigns.filter(slug=typed(request.POST.get("campaign"))).first()
    form = _form(request, found, request.POST.get("kind", ""), draft)
    form.is_valid()
    return render(
        request,
        "annotation/lead/campaigns/_estimate.html",
        {"study": found, "asking": _asking(found, form, draft)},
    )


def _form(request: HttpRequest, study: Study, kind: str, draft: Campaign | None = None) -> CampaignForm:
    if kind not in FORMS:
        raise Http404("There is no such kind of campaign.")
    data = request.POST if request.method == "POST" else None
    return FORMS[kind](data, study=study, campaign=draft)


def _asking(study: Study, form: CampaignForm, draft: Campaign | None) -> Asking | None:
    """Return what a campaign with the form's values would ask, unwritten; None while they are wrong."""
    if form.is_bound and not form.is_valid():
        return None
    values = form.settings() if form.is_bound else form.initial_settings()
    values = {name: value for name, value in values.items() if name not in {"guidelines", "quotas"}}
    seed = draft.seed if draft else study.seed
    return asking(Campaign(study=study, kind=form.kind, seed=seed, **values))


def _page(request: HttpRequest, study: Study, form: CampaignForm, draft: Campaign | None) -> HttpResponse:
    refused = form.is_bound and bool(form.errors)
    context = {
        "study": study,
        "may_change": True,
        "form": form,
        "campaign": draft,
        "kind_words": Campaign.Kind(form.kind).label,
        "asking": None if refused else _asking(study, form, draft),
    }
    return render(
        request, "annotation/lead/campaigns/drafts/form.html", context, status=400 if refused else 200
    )
