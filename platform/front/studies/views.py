"""The list of studies, and a study's overview, members, consent and history."""

from collections.abc import Iterable
from typing import Any

from django.core.paginator import Page
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from accounts.rights import Capability, Role, person_may, powers_of, requires
from annotation.lead.campaigns.overview import StudySummary, summaries
from annotation.lead.forms import ConsentForm, MemberForm
from annotation.lead.page_context import PER_PAGE, page_of, study_context, typed
from annotation.models import Campaign
from annotation.watch import notices
from front.studies.history import sentences
from front.studies.stages import stages_of
from jobs.access import jobs_visible_to
from jobs.models import Job
from jobs.pages.summary import JobSummary, shown
from studies import consent
from studies.access import capabilities_in, may, may_open, studies_visible_to, studies_where
from studies.consent import publish_consent
from studies.membership import add_member, remove_member
from studies.models import Study
from studies.study_view import StudyView
from web.form_page import Button, FormPage
from web.keyset import key_page

STUDIES_PER_PAGE = 20
CAMPAIGNS_SHOWN = 10
JOBS_SHOWN = 3
GROUPS_NAMED = 8
JOBS_READ = 70  # a team has at most 64 jobs


@requires(get=Capability.SIGNED_IN)
def study_list(request: HttpRequest) -> HttpResponse:
    """List the studies visible to the user, newest first, with their progress."""
    page: Page[Any] = page_of(request, studies_visible_to(request.user), per_page=STUDIES_PER_PAGE)
    lines = _summaries(page.object_list)
    may_create = person_may(request.user, Capability.CREATE_STUDIES)
    led = set(
        studies_where(request.user, Capability.RUN_CAMPAIGNS)
        .filter(pk__in=[line.study.pk for line in lines])
        .values_list("pk", flat=True)
    )
    context = {"page": page, "lines": lines, "may_create": may_create, "led": led}
    return render(request, "front/studies/list.html", context)


@requires(get=Capability.SEE_STUDY)
def study_detail(request: HttpRequest, study: str) -> HttpResponse:
    """Show the progress of a study from plan to release, with the next action of each stage."""
    context = study_context(request, study)
    (summary,) = _summaries([context["study"]])
    prompts = context["study"].prompt_templates.all()
    groups = context["study"].groups.order_by("display_name")
    names = list(groups.values_list("display_name", flat=True)[:GROUPS_NAMED])
    context |= {
        "summary": summary,
        "stages": [
            stage if not stage.url or may_open(request, context["study"], stage.url) else stage.without_link()
            for stage in stages_of(summary, may_change=context["may_change"])
        ],
        "prompts": prompts,
        "group_names": names[:GROUPS_NAMED],
        "more_groups": max(summary.groups - GROUPS_NAMED, 0),
        "may_manage": may(request, context["study"], Capability.MANAGE_STUDY),
        "campaigns": summary.campaigns[:CAMPAIGNS_SHOWN],
        "jobs": _active_jobs(request, context["study"]) if summary.jobs_active else [],
        "entries": sentences(
            context["study"].audit_entries.select_related("actor")[:5],
            capabilities_in(request, context["study"]),
        ),
    }
    return render(request, "front/studies/detail.html", context)


@requires(get=Capability.SEE_HISTORY)
def study_history(request: HttpRequest, study: str) -> HttpResponse:
    """List the audit trail of a study, newest first."""
    context = study_context(request, study)
    page = key_page(request, context["study"].audit_entries.select_related("actor"), size=PER_PAGE)
    entries = sentences(page.object_list, capabilities_in(request, context["study"]))
    context |= {"page": page, "entries": entries}
    return render(request, "front/studies/history.html", context)


@requires(get=Capability.SEE_STUDY, post=Capability.MANAGE_MEMBERS)
class StudyMembers(StudyView, FormPage[MemberForm]):
    """List the members of a study; a lead can add people by user name."""

    template_name = "front/studies/members.html"
    form_class = MemberForm
    leads_to = "studies:members"

    def call(self) -> str:
        member = add_member(study=self.study, by=self.by, **self.form.cleaned_data)
        return f"{member.user} is now {member.get_role_display()} of this study."

    def context(self) -> dict[str, Any]:
        members = self.study.memberships.select_related("user").order_by("user__username", "role")
        powers = [(role, powers_of(role)) for role in Role]
        return super().context() | {"page": page_of(self.request, members), "powers": powers}


@requires(post=Capability.MANAGE_MEMBERS)
class MemberRemove(StudyView, Button):
    """Removes a role of a member."""

    leads_to = "studies:members"

    def load(self) -> None:
        super().load()
        memberships = self.study.memberships.select_related("user")
        self.membership = get_object_or_404(memberships, pk=self.kwargs["membership"])

    def call(self) -> str:
        name, role = str(self.membership.user), self.membership.get_role_display()
        remove_member(membership=self.membership, by=self.by)
        return f"{name} is no longer {role} of this study."


@requires(get=Capability.SEE_STUDY, post=Capability.MANAGE_STUDY)
class StudyConsent(StudyView, FormPage[ConsentForm]):
    """Show and publish the consent text of a study; a new version requires consent again.

    After publishing, `?campaign=` redirects to the checklist of a draft campaign.
    """

    template_name = "front/studies/consent.html"
    leads_to = "studies:consent"

    def make_form(self, data: Any) -> ConsentForm:
        return ConsentForm.of(consent.current_text(self.study)) if data is None else ConsentForm(data)

    def call(self) -> str | HttpResponse:
        text = publish_consent(study=self.study, by=self.by, **self.form.settings())
        message = f"Version {text.version} is published. Annotators are asked to agree to the new version."
        drafts = self.study.campaigns.filter(state=Campaign.State.DRAFT)
        draft = drafts.filter(slug=typed(self.request.GET.get("campaign"))).first()
        if draft is None:
            return message
        return self.redirect_with(message, "annotation:campaign_launch", self.study.slug, draft.slug)

    def context(self) -> dict[str, Any]:
        return super().context() | {"text": consent.current_text(self.study)}


def _active_jobs(request: HttpRequest, study: Study) -> list[tuple[Job, JobSummary]]:
    """Return the oldest queued and running jobs of the study with their state; only one job of each team."""
    jobs = jobs_visible_to(request.user).filter(
        study_id=study.pk, state__in=[Job.State.QUEUED, Job.State.RUNNING]
    )
    of_teams: dict[str, Job] = {}
    for job in jobs.order_by("pk")[:JOBS_READ]:
        of_teams.setdefault(job.team or str(job.pk), job)
    return [(job, shown(job)) for job in list(of_teams.values())[:JOBS_SHOWN]]


def _summaries(studies: Iterable[Study]) -> list[StudySummary]:
    """Return the summaries of studies, with current notices."""
    studies = list(studies)
    working = Campaign.objects.filter(study__in=studies, notices__resolved_at=None, notices__isnull=False)
    notices.look_now_and_then()
    notices.look(campaigns=working.values_list("pk", flat=True).distinct())
    return summaries(studies)
