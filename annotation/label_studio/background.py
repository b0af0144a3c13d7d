"""The jobs of bridges, and the periodic checks."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse
from django.utils import timezone

from annotation.label_studio.base import job_queue
from annotation.label_studio.base.connections import clear_trouble, note_trouble
from annotation.label_studio.base.job_queue import ADDRESSES, CLEANUP, EVENTS, PUSH, RECONCILE, SETTLE
from annotation.label_studio.base.locks import reading_from
from annotation.label_studio.client.errors import PASSING
from annotation.label_studio.format import background as _of_files  # noqa: F401 - registers its jobs
from annotation.label_studio.labels.settle import settle
from annotation.label_studio.models import LabelStudioBridge, LabelStudioEvent
from annotation.label_studio.people.identity import tasks_of
from annotation.label_studio.pull import cleanup, problems
from annotation.label_studio.pull.events import work_off
from annotation.label_studio.pull.reconcile import reconcile
from annotation.label_studio.push import image_access, sync
from annotation.models import Campaign
from foundation.errors import Conflict, DomainError, NotFound
from jobs.models import Job
from jobs.progress.reporter import Progress
from jobs.run.registry import register

# Events are kept for a while, so that a lead sees whether they arrive and what happened to them.
_KEPT = timedelta(days=14)
_EVENTS_KEPT = 1_000  # at most, for each bridge
_SWEPT = "annotation.label_studio.background.swept"
_SWEEP_SECONDS = 20
# A job for events gives up at once: the job that is reading processes them when it is done, or queues that.
_PATIENCE = {EVENTS: 0.0, RECONCILE: 120.0}
# Codes of problems of one job, not of the server; the bridge does not show them.
_PASSED_OVER = (Conflict, NotFound)


@register(PUSH)
def push(job: Job, progress: Progress) -> dict[str, Any]:
    """Send what Label Studio does not have yet."""
    bridge = _bridge(job)
    with _noting(bridge, PUSH):
        report = sync.push(bridge=bridge, by=job.created_by, progress=progress)
    # The push may have repaired the projects' problems: check them again.
    if bridge.problem in problems.CODES:
        job_queue.start_reconcile(bridge=bridge, by=None)
    return _result(bridge, str(report))


@register(EVENTS)
def events(job: Job, progress: Progress) -> dict[str, Any]:
    """Process the events of webhooks."""
    bridge = _bridge(job)
    with reading_from(bridge, seconds=_PATIENCE[EVENTS], progress=progress) as has_lock:
        if not has_lock:
            return _result(bridge, "Another job is already reading the events and will process them.")
        with _noting(bridge, EVENTS):
            report = work_off(bridge=bridge, progress=progress)
    if (wrong := problems.together(report.problems)) is not None:
        note_trouble(bridge=bridge, trouble=wrong)
    _wake_for_more(bridge)
    return _result(bridge, str(report))


@register(RECONCILE)
def compare(job: Job, progress: Progress) -> dict[str, Any]:
    """Compare everything, then process the events that arrived meanwhile."""
    bridge = _bridge(job)
    with reading_from(bridge, seconds=_PATIENCE[RECONCILE], progress=progress) as has_lock:
        if not has_lock:
            raise Conflict(
                "label_studio_busy",
                "Another job is still reading from Label Studio. Try again later.",
            )
        with _noting(bridge, RECONCILE):
            report = reconcile(bridge=bridge, progress=progress)
    wrong = problems.together(report.problems)
    if wrong is not None:
        note_trouble(bridge=bridge, trouble=wrong)
    elif bridge.problem in problems.CODES:
        clear_trouble(bridge=bridge)
    _wake_for_more(bridge)
    lines = [wrong.message] if wrong is not None else []
    return _result(bridge, str(report)) | {"lines": lines}


@register(ADDRESSES)
def addresses(job: Job, progress: Progress) -> dict[str, Any]:
    """Send new addresses of images."""
    bridge = _bridge(job)
    with _noting(bridge, ADDRESSES):
        number = image_access.replace_addresses(
            bridge=bridge,
            by=job.created_by,
            finish=bool(job.arguments.get("finish")),
            progress=progress,
        )
    return _result(bridge, f"{number:,} tasks have new image addresses.")


@register(SETTLE)
def count(job: Job, progress: Progress) -> dict[str, Any]:
    """Count the mirrored answers of one user or of all users."""
    bridge = _bridge(job)
    user = job.arguments.get("user")
    tasks = tasks_of(bridge, None if user is None else [user])
    settled = settle(bridge=bridge, task_ids=tasks, progress=progress)
    return _result(bridge, f"{settled.tasks:,} tasks were counted; {settled.counted:,} annotations count.")


@register(CLEANUP)
def clean_up(job: Job, progress: Progress) -> dict[str, Any]:
    """Delete answers in Label Studio that do not count."""
    bridge = _bridge(job)
    kinds = [kind for kind in str(job.arguments["kinds"]).split(",") if kind in cleanup.KINDS]
    with _noting(bridge, CLEANUP):
        report = cleanup.clean_up(
            bridge=bridge,
            kinds=kinds,
            last_id=int(job.arguments["last"]),
            by=job.created_by,
            progress=progress,
        )
    _wake_for_more(bridge)
    return _result(bridge, str(report))


def sweep() -> None:
    """Process remaining events, compare everything from time to time, retry failed jobs, and remove old records.

    A closed campaign is compared until one comparison began after it was closed: answers given in time count.
    """
    if not cache.add(_SWEPT, 1, timeout=_SWEEP_SECONDS):
        return
    now = timezone.now()
    LabelStudioEvent.objects.filter(done_at__lt=now - _KEPT).delete()
    open_events = LabelStudioEvent.objects.filter(bridge=OuterRef("pk"), done_at=None)
    old = now - timedelta(minutes=settings.LABEL_STUDIO_RECONCILE_MINUTES)
    begun = ~Q(campaign__state=Campaign.State.DRAFT)
    for bridge in (
        LabelStudioBridge.objects.filter(begun).annotate(told=Exists(open_events)).select_related("campaign")
    ):
        if vars(bridge)["told"] and job_queue.may_try(bridge, EVENTS, now=now):
            job_queue.wake(bridge)
        if bridge.pushed_at is not None and _is_due(bridge, old):
            _again(bridge, RECONCILE)
        if bridge.campaign.closed_at is None:
            _push_again(bridge)
            _finish_addresses(bridge)
        job_queue.forget(bridge)
        _forget_events(bridge)


def _is_due(bridge: LabelStudioBridge, old: datetime) -> bool:
    """Return whether everything is to be compared again."""
    if bridge.reconciled_at is None:
        return True
    if bridge.campaign.closed_at is None:
        return bridge.reconciled_at < old
    # The end of a comparison does not show when it read.
    finished_jobs = job_queue.jobs_of(bridge, RECONCILE).filter(state=Job.State.SUCCEEDED)
    return not finished_jobs.filter(started_at__gt=bridge.campaign.closed_at).exists()


def _again(bridge: LabelStudioBridge, kind: str) -> None:
    if job_queue.may_try(bridge, kind):
        job_queue.start(kind, bridge, by=None)


def _finish_addresses(bridge: LabelStudioBridge) -> None:
    """Continue an interrupted replacement of images' addresses: until it is done, some tasks show no image."""
    if image_access.without_picture(bridge).exists() and job_queue.may_try(bridge, ADDRESSES, PUSH):
        job_queue.start(ADDRESSES, bridge, by=None, finish=True)


def _push_again(bridge: LabelStudioBridge) -> None:
    """Queue again a push that failed because of a temporary problem."""
    latest_push = job_queue.jobs_of(bridge, PUSH).first()
    if (
        latest_push is not None
        and latest_push.state == Job.State.FAILED
        and latest_push.error_code in PASSING
    ):
        _again(bridge, PUSH)


def _forget_events(bridge: LabelStudioBridge) -> None:
    old_events = bridge.events.exclude(done_at=None).order_by("-pk")
    oldest = old_events.values_list("pk", flat=True)[_EVENTS_KEPT : _EVENTS_KEPT + 1].first()
    if oldest is not None:
        old_events.filter(pk__lte=oldest).delete()


def _wake_for_more(bridge: LabelStudioBridge) -> None:
    """Queue the processing of events that arrived while this job was reading: jobs for them have given up."""
    if bridge.events.filter(done_at=None).exists():
        job_queue.wake(bridge)


@contextmanager
def _noting(bridge: LabelStudioBridge, kind: str) -> Iterator[None]:
    """Show on the bridge what went wrong, until a job of the same kind succeeds."""
    try:
        yield
    except _PASSED_OVER:
        raise
    except DomainError as trouble:
        note_trouble(bridge=bridge, trouble=trouble)
        raise
    bridge.refresh_from_db()
    if bridge.problem and bridge.problem not in problems.CODES and not _of_another(bridge, kind):
        clear_trouble(bridge=bridge)


def _of_another(bridge: LabelStudioBridge, kind: str) -> bool:
    """Return whether the problem comes from another kind of job, which has not succeeded since."""
    for other_kind in job_queue.KINDS:
        if other_kind == kind or (other_kind == PUSH and bridge.campaign.closed_at is not None):
            continue  # nothing is sent to projects in which nobody may answer
        latest_job = job_queue.jobs_of(bridge, other_kind).filter(finished_at__isnull=False).first()
        if latest_job is not None and latest_job.error_code == bridge.problem:
            return True
    return False


def _bridge(job: Job) -> LabelStudioBridge:
    bridge = (
        LabelStudioBridge.objects.select_related("campaign__study", "server")
        .filter(pk=job.arguments["bridge"])
        .first()
    )
    if bridge is None:
        raise NotFound("not_bridged", "The campaign is no longer labelled in Label Studio.")
    return bridge


def _result(bridge: LabelStudioBridge, summary: str) -> dict[str, Any]:
    campaign = bridge.campaign
    return {
        "summary": summary,
        "url": reverse("annotation:campaign", args=[campaign.study.slug, campaign.slug]),
    }
