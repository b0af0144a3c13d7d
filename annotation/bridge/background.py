"""The jobs of bridges, and what is looked after now and then without anybody asking."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse
from django.utils import timezone

from accounts.errors import Conflict, NotFound
from annotation.bridge import findings, images, pushing, queueing
from annotation.bridge.connecting import clear_trouble, note_trouble
from annotation.bridge.events import work_off
from annotation.bridge.people import tasks_of
from annotation.bridge.queueing import ADDRESSES, EVENTS, PUSH, RECONCILE, SETTLE
from annotation.bridge.reconciling import reconcile
from annotation.bridge.settling import settle
from annotation.bridge.troubles import PASSING, Trouble
from annotation.bridge.turns import reading_from
from annotation.models import Campaign, LabelStudioBridge, LabelStudioEvent
from jobs.models import Job
from jobs.progress import Progress
from jobs.registry import register

# An event is kept for a while, so that a lead sees whether they come and what became of them.
_KEPT = timedelta(days=14)
_FINISHED_JOBS_KEPT = 20
_SWEPT = "annotation.bridge.background.swept"
_SWEEP_SECONDS = 20
# A job of events lets go soon: whoever reads now works them off, or has them worked off, when it is done.
_PATIENCE = {EVENTS: 5.0, RECONCILE: 120.0}


@register(PUSH)
def push(job: Job, progress: Progress) -> dict[str, Any]:
    """Send what is not there yet."""
    bridge = _bridge(job)
    with _noting(bridge):
        report = pushing.push(bridge=bridge, by=job.created_by, progress=progress)
    # What was wrong with projects may be mended by this: only looking at them tells.
    if bridge.problem in findings.CODES:
        queueing.start_reconcile(bridge=bridge, by=None)
    return _result(bridge, str(report))


@register(EVENTS)
def events(job: Job, progress: Progress) -> dict[str, Any]:
    """Work off what webhooks told."""
    bridge = _bridge(job)
    with reading_from(bridge, seconds=_PATIENCE[EVENTS], progress=progress) as mine:
        if not mine:
            return _result(bridge, "Another job is reading; it has them worked off.")
        with _noting(bridge):
            done = work_off(bridge=bridge, progress=progress)
    if (wrong := findings.together(done.found)) is not None:
        note_trouble(bridge=bridge, trouble=wrong)
    return _result(bridge, str(done))


@register(RECONCILE)
def compare(job: Job, progress: Progress) -> dict[str, Any]:
    """Compare everything, and have worked off what webhooks told meanwhile."""
    bridge = _bridge(job)
    with reading_from(bridge, seconds=_PATIENCE[RECONCILE], progress=progress) as mine:
        if not mine:
            raise Conflict(
                "label_studio_busy",
                "Another job has been reading from Label Studio for long; try again later.",
            )
        with _noting(bridge):
            done = reconcile(bridge=bridge, progress=progress)
    wrong = findings.together(done.found)
    if wrong is not None:
        note_trouble(bridge=bridge, trouble=wrong)
    else:
        clear_trouble(bridge=bridge)
    if bridge.events.filter(done_at=None).exists():
        queueing.wake(bridge)
    lines = [wrong.message] if wrong is not None else []
    return _result(bridge, str(done)) | {"lines": lines}


@register(ADDRESSES)
def addresses(job: Job, progress: Progress) -> dict[str, Any]:
    """Send new addresses of images."""
    bridge = _bridge(job)
    with _noting(bridge):
        number = images.replace_addresses(bridge=bridge, by=job.created_by, progress=progress)
    return _result(bridge, f"{number:,} tasks were given new addresses of images.")


@register(SETTLE)
def count(job: Job, progress: Progress) -> dict[str, Any]:
    """Count what is known here already, of one user or of all."""
    bridge = _bridge(job)
    user = job.arguments.get("user")
    tasks = tasks_of(bridge, None if user is None else [user])
    settled = settle(bridge=bridge, task_ids=tasks, progress=progress)
    return _result(bridge, f"{settled.tasks:,} tasks were counted; {settled.counted:,} annotations count.")


def sweep() -> None:
    """Work off what was left, compare everything now and then, try again what failed, and remove old events."""
    if not cache.add(_SWEPT, 1, timeout=_SWEEP_SECONDS):
        return
    now = timezone.now()
    LabelStudioEvent.objects.filter(done_at__lt=now - _KEPT).delete()
    left = LabelStudioEvent.objects.filter(bridge=OuterRef("pk"), done_at=None)
    old = now - timedelta(minutes=settings.LABEL_STUDIO_RECONCILE_MINUTES)
    at_work = Q(campaign__state__in=[Campaign.State.OPEN, Campaign.State.PAUSED])
    for bridge in (
        LabelStudioBridge.objects.filter(at_work).annotate(told=Exists(left)).select_related("campaign")
    ):
        if vars(bridge)["told"] and queueing.may_try(bridge, EVENTS, now=now):
            queueing.wake(bridge)
        if bridge.pushed_at is not None and (bridge.reconciled_at is None or bridge.reconciled_at < old):
            _again(bridge, RECONCILE)
        _push_again(bridge)
        _forget_jobs(bridge)


def _again(bridge: LabelStudioBridge, kind: str) -> None:
    if queueing.may_try(bridge, kind):
        queueing.start(kind, bridge, by=None)


def _push_again(bridge: LabelStudioBridge) -> None:
    """Go on with a push that ended for a trouble that passes."""
    last = queueing.jobs_of(bridge, PUSH).order_by("-pk").first()
    if last is not None and last.state == Job.State.FAILED and last.error_code in PASSING:
        _again(bridge, PUSH)


def _forget_jobs(bridge: LabelStudioBridge) -> None:
    """Keep the newest of the small jobs that follow webhooks: there may be one for each answer."""
    done = queueing.jobs_of(bridge, EVENTS).filter(state=Job.State.SUCCEEDED).order_by("-pk")
    oldest = done.values_list("pk", flat=True)[_FINISHED_JOBS_KEPT : _FINISHED_JOBS_KEPT + 1].first()
    if oldest is not None:
        done.filter(pk__lte=oldest).delete()


@contextmanager
def _noting(bridge: LabelStudioBridge) -> Iterator[None]:
    """Say on the bridge what the server did wrong, until it does right again."""
    try:
        yield
    except Trouble as trouble:
        note_trouble(bridge=bridge, trouble=trouble)
        raise
    bridge.refresh_from_db()
    if bridge.problem and bridge.problem not in findings.CODES:
        clear_trouble(bridge=bridge)


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
