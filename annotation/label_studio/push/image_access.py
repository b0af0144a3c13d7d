"""How long Label Studio shows our images: extending the time, or replacing all addresses."""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from accounts.models import User
from annotation.label_studio.base.locks import alone_with
from annotation.label_studio.client.errors import Trouble
from annotation.label_studio.client.rest import Client
from annotation.label_studio.models import LabelStudioBridge, LabelStudioProject, LabelStudioTask
from annotation.label_studio.push.image_urls import image_address, needs_site_url, shows_pictures
from annotation.label_studio.push.tasks import rows_of
from foundation.errors import Conflict, DomainError, NotFound
from jobs.progress.reporter import Progress, Unwatched
from studies import audit

__all__ = [
    "DAYS",
    "image_address",
    "make_void",
    "needs_site_url",
    "renew",
    "replace_addresses",
    "shows_pictures",
    "without_picture",
]

DAYS = 30
_MOST_DAYS = 366
_AT_ONCE = 50


@transaction.atomic
def renew(*, bridge: LabelStudioBridge, by: User | None, days: int = DAYS) -> LabelStudioBridge:
    """Make all sent addresses valid for this number of days from now, including expired ones."""
    _needs_pictures(bridge)
    if type(days) is not int or not 1 <= days <= _MOST_DAYS:
        message = f"Enter a number of days from 1 to {_MOST_DAYS}."
        raise DomainError("days_invalid", message, fields={"days": message})
    LabelStudioBridge.objects.filter(pk=bridge.pk).update(images_until=timezone.now() + timedelta(days=days))
    return _recorded(bridge, by, "label_studio.images_renewed", days=days)


@transaction.atomic
def make_void(*, bridge: LabelStudioBridge, by: User | None) -> LabelStudioBridge:
    """Revoke all sent addresses; `replace_addresses` gives the tasks new ones."""
    _needs_pictures(bridge)
    needs_site_url()
    LabelStudioBridge.objects.filter(pk=bridge.pk).update(images_version=F("images_version") + 1)
    return _recorded(bridge, by, "label_studio.images_replaced")


def _recorded(
    bridge: LabelStudioBridge, by: User | None, action: str, **details: object
) -> LabelStudioBridge:
    fresh_bridge = (
        LabelStudioBridge.objects.select_related("campaign__study", "server").filter(pk=bridge.pk).first()
    )
    if fresh_bridge is None:
        raise NotFound("bridge_not_found", "This campaign is no longer labelled in a Label Studio.")
    audit.record(
        by=by, action=action, subject=fresh_bridge.campaign, study=fresh_bridge.campaign.study, **details
    )
    return fresh_bridge


def replace_addresses(
    *, bridge: LabelStudioBridge, by: User | None, finish: bool = False, progress: Progress | None = None
) -> int:
    """Revoke all addresses in use and give the tasks in Label Studio new ones; return the number of tasks.

    If this is interrupted, the remaining tasks show no picture. Another call then revokes nothing and continues with
    these tasks; with `finish` it does only this.
    """
    _needs_pictures(bridge)
    with alone_with(bridge), Client.of(bridge.server) as client:
        client.whoami()  # revoke nothing if new addresses cannot be sent
        bridge.refresh_from_db(fields=["images_version"])
        if not finish and not without_picture(bridge).exists():
            bridge = make_void(bridge=bridge, by=by)
        return rewrite(client, bridge, progress or Unwatched())


def without_picture(bridge: LabelStudioBridge) -> QuerySet[LabelStudioTask]:
    """Return the tasks in Label Studio whose picture address is revoked."""
    live = LabelStudioTask.objects.filter(project__bridge=bridge, project__gone_at=None)
    if not shows_pictures(bridge.campaign):
        return live.none()
    return live.exclude(images_version=bridge.images_version)


def rewrite(client: Client, bridge: LabelStudioBridge, progress: Progress) -> int:
    """Send the data of every task with a revoked picture address again; return their number. Raises Trouble at the end
    if a whole project no longer exists."""
    waiting = without_picture(bridge)
    if not waiting.exists():
        return 0
    progress.step("Giving pictures new addresses")
    progress.start(waiting.count())
    done_count, lost = 0, None
    for project in bridge.projects.filter(gone_at=None).select_related("bridge__campaign").order_by("pk"):
        rows = waiting.filter(project=project).order_by("pk")
        try:
            done_count += _rewrite(
                client, project, dict(rows.values_list("task_id", "external_id")), progress
            )
        except Trouble as trouble:
            if trouble.code != "gone":
                raise
            lost = trouble
    if lost is not None:
        raise lost
    return done_count


def _rewrite(client: Client, project: LabelStudioProject, numbers: dict[int, int], progress: Progress) -> int:
    done_count, keys = 0, list(numbers)
    for start in range(0, len(keys), _AT_ONCE):
        written = []
        try:
            for key, row in rows_of(project, keys[start : start + _AT_ONCE]):
                progress.check_cancelled()
                done_count += _was_there(client, project, numbers[key], row)
                written.append(key)
                progress.advance(message="pictures with new addresses")
        finally:
            part = LabelStudioTask.objects.filter(project=project, task__in=written)
            part.update(images_version=project.bridge.images_version)
    return done_count


def _was_there(client: Client, project: LabelStudioProject, number: int, row: dict[str, Any]) -> bool:
    """Send a task's data; a deleted task is skipped, and the next push sends it again."""
    try:
        client.update_task_data(number, row)
    except Trouble as trouble:
        if trouble.code != "gone":
            raise
        # Raises if the whole project is deleted or hidden: then nothing is known about the task.
        client.project(project.external_id)
        return False
    return True


def _needs_pictures(bridge: LabelStudioBridge) -> None:
    if not shows_pictures(bridge.campaign):
        raise Conflict("no_pictures", "This campaign shows no pictures in Label Studio.")
