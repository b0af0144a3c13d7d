"""For how long images of ours are shown in a Label Studio: renewed at once, or put under other addresses."""

from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts.errors import DomainError, NotFound
from accounts.models import User
from annotation.bridge.addresses import image_address, needs_site_url
from annotation.bridge.client import Client
from annotation.bridge.sending import rows_of
from annotation.bridge.turns import alone_with
from annotation.models import LabelStudioBridge, LabelStudioTask
from jobs.progress import Progress, Unwatched
from studies import audit

__all__ = ["DAYS", "image_address", "make_void", "needs_site_url", "renew", "replace_addresses"]

DAYS = 30
_MOST_DAYS = 366
_AT_ONCE = 500


@transaction.atomic
def renew(*, bridge: LabelStudioBridge, by: User | None, days: int = DAYS) -> LabelStudioBridge:
    """Let the addresses that are out there work for so many days from now, those that ended too."""
    if type(days) is not int or not 1 <= days <= _MOST_DAYS:
        message = f"Give a number of days from 1 to {_MOST_DAYS}."
        raise DomainError("days_invalid", message, fields={"days": message})
    LabelStudioBridge.objects.filter(pk=bridge.pk).update(images_until=timezone.now() + timedelta(days=days))
    return _recorded(bridge, by, "label_studio.images_renewed", days=days)


@transaction.atomic
def make_void(*, bridge: LabelStudioBridge, by: User | None) -> LabelStudioBridge:
    """Make every address that is out there void; `replace_addresses` gives the tasks new ones."""
    needs_site_url()
    LabelStudioBridge.objects.filter(pk=bridge.pk).update(images_version=F("images_version") + 1)
    return _recorded(bridge, by, "label_studio.images_replaced")


def _recorded(
    bridge: LabelStudioBridge, by: User | None, action: str, **details: object
) -> LabelStudioBridge:
    found = LabelStudioBridge.objects.select_related("campaign__study", "server").filter(pk=bridge.pk).first()
    if found is None:
        raise NotFound("bridge_not_found", "This campaign is not labelled in a Label Studio any more.")
    audit.record(by=by, action=action, subject=found.campaign, study=found.campaign.study, **details)
    return found


def replace_addresses(*, bridge: LabelStudioBridge, by: User | None, progress: Progress | None = None) -> int:
    """Make every address that is out there void and give the tasks over there others; return how many tasks.

    Interrupted, the tasks that were not reached show no picture: done again, all have one.
    """
    progress = progress or Unwatched()
    with alone_with(bridge), Client.of(bridge.server) as client:
        client.whoami()  # nothing is made void where no other can be given
        bridge = make_void(bridge=bridge, by=by)
        return rewrite(client, bridge, progress)


def rewrite(client: Client, bridge: LabelStudioBridge, progress: Progress) -> int:
    """Send the data of every task anew."""
    live = LabelStudioTask.objects.filter(project__bridge=bridge, project__gone_at=None)
    progress.start(live.count())
    done = 0
    for project in bridge.projects.filter(gone_at=None).select_related("bridge").order_by("pk"):
        numbers = dict(live.filter(project=project).order_by("pk").values_list("task_id", "external_id"))
        keys = list(numbers)
        for start in range(0, len(keys), _AT_ONCE):
            for key, row in rows_of(project, keys[start : start + _AT_ONCE]):
                progress.check_cancelled()
                client.update_task_data(numbers[key], row)
                done += 1
                progress.advance(message="pictures under other addresses")
    return done
