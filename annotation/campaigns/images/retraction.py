"""Retract and restore an image. A retracted image is not shown, and its labels do not count."""

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from accounts.models import User
from annotation.assignment import leases
from annotation.models import Task, TaskStimulus
from foundation.errors import Conflict, DomainError
from generation.models import Image
from studies import audit


@transaction.atomic
def retract(*, image: Image, by: User | None, reason: str) -> Image:
    """Retract an image with a reason. Its tasks are withdrawn, open ones are released, labels stay stored."""
    reason = checked_reason(reason)
    retracted = Image.objects.filter(pk=image.pk, retracted_at=None).update(
        retracted_at=timezone.now(), retracted_reason=reason
    )
    if not retracted:
        raise Conflict("already_retracted", "This image has already been retracted.")
    tasks = showing(image)
    leases.release_tasks(tasks=tasks)  # leases before tasks, as everywhere, to avoid deadlocks
    tasks.update(withdrawn=True)
    leases.release_tasks(tasks=tasks)  # tasks that were leased between the two
    # A check takes no place of its task, so a check leased meanwhile becomes visible only when both have ended.
    transaction.on_commit(lambda: leases.release_tasks(tasks=showing(image)))
    audit.record(by=by, action="image.retracted", subject=image, study=image.study, reason=reason)
    return Image.objects.get(pk=image.pk)


def showing(image: Image) -> QuerySet[Task]:
    """Return the tasks that show an image, alone or with others."""
    alone = Task.objects.filter(image=image).order_by().values("pk")
    beside = TaskStimulus.objects.filter(image=image).order_by().values("task")
    return Task.objects.filter(pk__in=alone.union(beside, all=True))


def checked_reason(reason: str) -> str:
    """Return the reason without superfluous spaces; raises DomainError `reason_invalid`."""
    reason = " ".join(reason.split())
    if not reason or len(reason) > 300:
        message = "Give a reason of 1 to 300 characters."
        raise DomainError("reason_invalid", message, fields={"reason": message})
    return reason


@transaction.atomic
def restore(*, image: Image, by: User | None) -> Image:
    """Undo a retraction: the image is shown and its labels count again."""
    restored = Image.objects.filter(pk=image.pk, retracted_at__isnull=False).update(
        retracted_at=None, retracted_reason=""
    )
    if not restored:
        raise Conflict("not_retracted", "This image is not retracted.")
    # A gold or practice task that a lead removed has no known answers, and stays removed.
    removed = Q(known_answers=None) & ~Q(purpose=Task.Purpose.LABEL)
    # So does a task that shows another retracted image beside this one.
    retracted = TaskStimulus.objects.filter(task=OuterRef("pk"), image__retracted_at__isnull=False)
    offered = showing(image).filter(~removed, ~Exists(retracted))
    Task.objects.filter(pk__in=offered.values("pk")).update(withdrawn=False)
    audit.record(by=by, action="image.restored", subject=image, study=image.study)
    return Image.objects.get(pk=image.pk)
