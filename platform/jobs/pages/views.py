"""Pages of current and past jobs."""

from typing import cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render

from accounts.models import User
from accounts.rights import Capability, requires
from jobs.access import job_for, jobs_visible_to, may_read_result, may_steer
from jobs.models import Job
from jobs.pages.summary import LINES_PER_PAGE, as_json, clock, shown
from jobs.run import control
from jobs.run.teams import team_of
from web.keyset import key_page
from web.navigation import next_steps


@requires(get=Capability.SIGNED_IN)
def job_list(request: HttpRequest) -> HttpResponse:
    """List the jobs that the user may see, newest first."""
    jobs = jobs_visible_to(request.user).select_related("created_by")
    state = request.GET.get("state", "")
    if state in Job.State.values:
        jobs = jobs.filter(state=state)
    page = key_page(request, jobs, size=50)
    return render(request, "jobs/list.html", {"page": page, "state": state, "states": Job.State.choices})


@requires(get=Capability.SEE_JOBS)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show progress, result, error and log of a job."""
    job = job_for(request.user, pk)
    steers = may_steer(request.user, job)
    lines = Paginator(job.lines.all(), LINES_PER_PAGE).get_page(request.GET.get("page"))
    team = list(team_of(job)) if job.team else [job]
    context = {
        "job": job,
        "result": (job.result or {}) if may_read_result(request.user, job) else {},
        "team": team if len(team) > 1 else [],
        "shown": shown(job),
        "lines": lines,
        "log": [(line, clock(line)) for line in lines],
        "newest": lines[0].pk if lines.number == 1 and lines.object_list else 0,
        "may_cancel": steers and any(not member.ended and not member.cancel_requested for member in team),
        "next_steps": next_steps(job.kind, job) if steers and job.state == Job.State.SUCCEEDED else [],
        "may_retry": steers and job.state in {Job.State.FAILED, Job.State.CANCELLED},
    }
    return render(request, "jobs/detail.html", context)


@requires(get=Capability.SEE_JOBS)
def progress(request: HttpRequest, pk: int) -> JsonResponse:
    """Return the progress of a job as JSON, with log lines newer than `after`; its page polls every 2 s."""
    after = request.GET.get("after", "")
    newest = int(after) if after.isascii() and after.isdigit() and len(after) < 19 else None
    answer = JsonResponse(as_json(job_for(request.user, pk), after=newest))
    answer["Cache-Control"] = "no-store"
    return answer


@requires(post=Capability.STEER_JOBS)
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    job = control.cancel(job=job_for(request.user, pk, to_steer=True), by=cast("User", request.user))
    stopped = job.state == Job.State.CANCELLED
    messages.success(request, "Cancelled." if stopped else "The job will stop after the current step.")
    return redirect("jobs:detail", pk=pk)


@requires(post=Capability.STEER_JOBS)
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    control.retry(job=job_for(request.user, pk, to_steer=True), by=cast("User", request.user))
    messages.success(request, "The job is queued again. Completed steps are not repeated.")
    return redirect("jobs:detail", pk=pk)
