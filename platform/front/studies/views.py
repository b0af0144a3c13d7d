"""The list of studies, one study's stages, its members and its history."""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Page
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.lead.campaigns.overview import StudySummary, summaries
from annotation.lead.forms import ConsentForm, MemberForm
from annotation.lead.page_context import PER_PAGE, page_of, study_context
from annotation.models import Campaign
from annotation.watch import notices
from front.studies.history import sentences
from front.studies.stages import stages_of
from studies import consent
from studies.access import studies_led_by, studies_visible_to
from studies.consent import publish_consent
from studies.membership import add_member, remove_member
from studies.models import Study
from studies.study_view import StudyView
from web.form_page import Button, FormPage
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


class StudyMembers(StudyView, FormPage[MemberForm]):
    """Who sees the study; a lead adds people by user name."""

    readers = None
    template_name = "front/studies/members.html"
    form_class = MemberForm
    leads_to = "studies:members"

    def call(self) -> str:
        member = add_member(study=self.study, by=self.by, **self.form.cleaned_data)
        return f"{member.user} is now {member.get_role_display()} of this study."

    def context(self) -> dict[str, Any]:
        members = self.study.memberships.select_related("user").order_by("user__username", "role")
        return super().context() | {"page": page_of(self.request, members)}


class MemberRemove(StudyView, Button):
    """Takes a role back."""

    leads_to = "studies:members"

    def load(self) -> None:
        super().load()
        memberships = self.study.memberships.select_related("user")
        self.membership = get_object_or_404(memberships, pk=self.kwargs["membership"])

    def call(self) -> str:
        name, role = str(self.membership.user), self.membership.get_role_display()
        remove_member(membership=self.membership, by=self.by)
        return f"{name} is no longer {role} of this study."


class StudyConsent(StudyView, FormPage[ConsentForm]):
    """What annotators of this study agree to; publishing a new version asks them again."""

    readers = None
    template_name = "front/studies/consent.html"
    leads_to = "studies:consent"

    def make_form(self, data: Any) -> ConsentForm:
        return ConsentForm.of(consent.current_text(self.study)) if data is None else ConsentForm(data)

    def call(self) -> str:
        text = publish_consent(study=self.study, by=self.by, **self.form.cleaned_data)
        return f"Version {text.version} is published. Annotators are asked to agree to it."

    def context(self) -> dict[str, Any]:
        return super().context() | {"text": consent.current_text(self.study)}


def _summaries(studies: Iterable[Study]) -> list[StudySummary]:
    """Return the summaries of these studies, with notices as they are now."""
    studies = list(studies)
    working = Campaign.objects.filter(study__in=studies, notices__resolved_at=None, notices__isnull=False)
    notices.look_now_and_then()
    notices.look(campaigns=working.values_list("pk", flat=True).distinct())
    return summaries(studies)
