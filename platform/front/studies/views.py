"""The list of studies, one study's stages, its members and its history."""

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Page
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.campaigns import notices
from annotation.lead.campaigns.overview import StudySummary, summaries
from annotation.lead.forms import ConsentForm, MemberForm, show_refusal
from annotation.lead.page_context import PER_PAGE, page_of, person, study_context
from annotation.models import Campaign
from foundation.errors import DomainError
from front.studies.history import sentences
from front.studies.stages import stages_of
from studies import consent
from studies.access import LEAD, studies_led_by, studies_visible_to, study_for
from studies.consent import publish_consent
from studies.membership import add_member, remove_member
from studies.models import Study
from web.keyset import key_page

STUDIES_PER_PAGE = 20
CAMPAIGNS_SHOWN = 10


@login_required
@require_safe
def study_list(request: HttpRequest) -> HttpResponse:
    """What runs and what needs me, newest first."""
    page: Page[Any] = page_of(request, studies_visible_to(request.user), per_page=STUDIES_PER_PAGE)
    lines = _summaries(page.object_list)
    may_create = bool(request.user.is_authenticated and request.user.leads)
    led = set(
        studies_led_by(request.user)
        .filter(pk__in=[line.study.pk for line in lines])
        .values_list("pk", flat=True)
    )
    context = {"page": page, "lines": lines, "may_create": may_create, "led": led}
    return render(request, "front/studies/list.html", context)


@login_required
@require_safe
def study_detail(request: HttpRequest, study: str) -> HttpResponse:
    """Where the study stands from plan to release, each stage with its next action."""
    context = study_context(request, study)
    (summary,) = _summaries([context["study"]])
    prompts = context["study"].prompt_templates.all()
    context |= {
        "summary": summary,
        "stages": stages_of(summary, may_change=context["may_change"]),
        "prompts": prompts,
        "campaigns": summary.campaigns[:CAMPAIGNS_SHOWN],
        "entries": sentences(context["study"].audit_entries.select_related("actor")[:5]),
    }
    return render(request, "front/studies/detail.html", context)


@login_required
@require_safe
def study_history(request: HttpRequest, study: str) -> HttpResponse:
    """Who did what, newest first."""
    context = study_context(request, study)
    page = key_page(request, context["study"].audit_entries.select_related("actor"), size=PER_PAGE)
    context |= {"page": page, "entries": sentences(page.object_list)}
    return render(request, "front/studies/history.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def study_members(request: HttpRequest, study: str) -> HttpResponse:
    """Who sees the study; a lead adds people by user name."""
    context = study_context(request, study)
    form = MemberForm(request.POST or None)
    if request.method == "POST":
        found = study_for(request.user, study, role=LEAD)
        if form.is_valid():
            try:
                member = add_member(study=found, by=person(request), **form.cleaned_data)
            except DomainError as error:
                show_refusal(form, error)
            else:
                messages.success(request, f"{member.user} is now {member.get_role_display()} of this study.")
                return redirect("studies:members", study)
    members = context["study"].memberships.select_related("user").order_by("user__username", "role")
    context |= {"form": form, "page": page_of(request, members)}
    return render(request, "front/studies/members.html", context, status=400 if form.errors else 200)


@login_required
@require_POST
def member_remove(request: HttpRequest, study: str, membership: int) -> HttpResponse:
    """Take a role back."""
    found = study_for(request.user, study, role=LEAD)
    member = get_object_or_404(found.memberships.select_related("user"), pk=membership)
    name = str(member.user)
    try:
        remove_member(membership=member, by=person(request))
    except DomainError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"{name} is no longer {member.get_role_display()} of this study.")
    return redirect("studies:members", study)


@login_required
@require_http_methods(["GET", "POST"])
def study_consent(request: HttpRequest, study: str) -> HttpResponse:
    """What annotators of this study agree to; publishing a new version asks them again."""
    context = study_context(request, study)
    text = consent.current_text(context["study"])
    form = ConsentForm(request.POST) if request.method == "POST" else ConsentForm.of(text)
    if request.method == "POST":
        found = study_for(request.user, study, role=LEAD)
        if form.is_valid():
            published = publish_consent(study=found, by=person(request), **form.cleaned_data)
            messages.success(
                request, f"Version {published.version} is published. Annotators are asked to agree to it."
            )
            return redirect("studies:consent", study)
    context |= {"form": form, "text": text}
    return render(
        request, "front/studies/consent.html", context, status=400 if form.errors and form.is_bound else 200
    )


def _summaries(studies: Iterable[Study]) -> list[StudySummary]:
    """Return the summaries of these studies, with notices as they are now."""
    studies = list(studies)
    working = Campaign.objects.filter(study__in=studies, notices__resolved_at=None, notices__isnull=False)
    notices.look_now_and_then()
    notices.look(campaigns=working.values_list("pk", flat=True).distinct())
    return summaries(studies)
