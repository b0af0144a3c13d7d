"""Jobs of a bridge: queued once, and retried later if that may help."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import User
from annotation.label_studio.models import LabelStudioBridge
from jobs.models import Job
from jobs.progress.reporter import Progress
from jobs.run.execution import enqueue, hurry, prepare, run_here

PUSH = "label_studio.push"
EVENTS = "label_studio.events"
RECONCILE = "label_studio.reconcile"
ADDRESSES = "label_studio.addresses"
SETTLE = "label_studio.settle"
CLEANUP = "label_studio.cleanup"

_TITLES = {
    PUSH: "Push “{name}” to Label Studio",
    EVENTS: "Fetch changes from Label Studio: “{name}”",
    RECONCILE: "Compare “{name}” with Label Studio",
    ADDRESSES: "Renew the image addresses of “{name}”",
    SETTLE: "Count answers from Label Studio: “{name}”",
    CLEANUP: "Delete answers that do not count from Label Studio: “{name}”",
}
KINDS = tuple(_TITLES)
_LONGEST_WAIT = timedelta(minutes=15)
# Of each kind. Failed jobs decide when to try again.
_ENDED_KEPT = 20
_NOT_ENDED = (Job.State.QUEUED, Job.State.RUNNING)


def start_push(*, bridge: LabelStudioBridge, by: User | None) -> Job:
    """Queue sending what Label Studio does not have yet."""
    return start(PUSH, bridge, by=by)


def start_reconcile(*, bridge: LabelStudioBridge, by: User | None) -> Job:
    """Queue a comparison of everything."""
    return start(RECONCILE, bridge, by=by)


def start_addresses(*, bridge: LabelStudioBridge, by: User | None) -> Job:
    """Queue sending new addresses of images to the tasks in Label Studio."""
    return start(ADDRESSES, bridge, by=by)


def start_settle(*, bridge: LabelStudioBridge, by: User | None, user: int | None = None) -> Job:
    """Queue counting again: the answers of one Label Studio user, or all answers."""
    return start(SETTLE, bridge, by=by, user=user)


@transaction.atomic
def start(
    kind: str,
    bridge: LabelStudioBridge,
    *,
    by: User | None,
    not_before: datetime | None = None,
    **arguments: Any,
) -> Job:
    """Queue a job of a bridge, or return the job that is already queued, which will do the same as soon as it may."""
    bridge = (
        LabelStudioBridge.objects.select_for_update(of=("self",)).select_related("campaign").get(pk=bridge.pk)
    )
    job = _waiting(kind, bridge, arguments)
    if job is None:
        job = enqueue(**_described(kind, bridge, arguments), by=by)
        if not_before is not None:
            job.wait_until = not_before
            job.save(update_fields=["wait_until"])
    elif not_before is None:
        hurry(job)
    return job


def wake(bridge: LabelStudioBridge) -> Job | None:
    """Queue the processing of events, unless a job for it waits, or such jobs fail: then the sweep queues it later.

    Takes no lock: a second job finds nothing to do. Call it after the event was committed, so that a waiting job sees
    the event.
    """
    if _waiting(EVENTS, bridge, {}) is not None or not _rested(bridge, EVENTS, now=timezone.now()):
        return None
    return enqueue(**_described(EVENTS, bridge, {}), by=None)


def do_here(kind: str, *, bridge: LabelStudioBridge, by: User | None, progress: Progress) -> Job:
    """Run a job of a bridge in this process."""
    return run_here(prepare(**_described(kind, bridge, {}), by=by), progress)


def jobs_of(bridge: LabelStudioBridge, *kinds: str) -> QuerySet[Job]:
    """Return the jobs of a bridge, newest first."""
    # There is an index on the study, and a study has few jobs.
    jobs = Job.objects.filter(study_id=bridge.campaign.study_id, arguments__bridge=bridge.pk)
    return jobs.filter(kind__in=kinds).order_by("-pk")


def may_try(bridge: LabelStudioBridge, *kinds: str, now: datetime | None = None) -> bool:
    """Whether no job of these kinds is queued or running, and the last failure is long enough ago: the wait doubles
    with each failure in a row."""
    if jobs_of(bridge, *kinds).filter(state__in=_NOT_ENDED).exists():
        return False
    return _rested(bridge, *kinds, now=now or timezone.now())


def forget(bridge: LabelStudioBridge) -> None:
    """Keep only the newest finished jobs: there may be one for each answer, and one every few minutes."""
    for kind in KINDS:
        ended = jobs_of(bridge, kind).exclude(state__in=_NOT_ENDED)
        oldest = ended.values_list("pk", flat=True)[_ENDED_KEPT : _ENDED_KEPT + 1].first()
        if oldest is not None:
            ended.filter(pk__lte=oldest).delete()


def _rested(bridge: LabelStudioBridge, *kinds: str, now: datetime) -> bool:
    failures, failed_at = 0, None
    for job in jobs_of(bridge, *kinds).exclude(state__in=_NOT_ENDED)[:10]:
        if job.state != Job.State.FAILED:
            break
        failures, failed_at = failures + 1, failed_at or job.finished_at
    if failed_at is None:
        return True
    wait: timedelta = timedelta(seconds=settings.JOB_BACKOFF_SECONDS) * 2 ** (failures - 1)
    return now - failed_at >= min(wait, _LONGEST_WAIT)


def _waiting(kind: str, bridge: LabelStudioBridge, arguments: dict[str, Any]) -> Job | None:
    return jobs_of(bridge, kind).filter(state=Job.State.QUEUED, arguments=_keys(bridge, arguments)).first()


def _keys(bridge: LabelStudioBridge, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"bridge": bridge.pk, **{name: value for name, value in arguments.items() if value is not None}}


def _described(kind: str, bridge: LabelStudioBridge, arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": kind,
        "title": _TITLES[kind].format(name=bridge.campaign.name),
        "arguments": _keys(bridge, arguments),
        "study_id": bridge.campaign.study_id,
    }
