"""Comparing everything in Label Studio with what is stored here, which finds what webhooks missed."""

from dataclasses import dataclass, field

from django.db.models import Q
from django.utils import timezone

from annotation.label_studio.client.errors import Trouble
from annotation.label_studio.client.rest import Client
from annotation.label_studio.labels.settle import Settled, settle
from annotation.label_studio.models import (
    LabelStudioAnnotation,
    LabelStudioBridge,
    LabelStudioTask,
    LabelStudioUser,
)
from annotation.label_studio.people import user_names
from annotation.label_studio.pull.fetch import look_at_all
from foundation.errors import DomainError
from jobs.progress.reporter import Progress, Unwatched

State = LabelStudioAnnotation.State
# After these errors, other projects may still be readable; after any other error the server is not asked again.
OF_ONE_PROJECT = frozenset({"server_error", "garbage", "gone", "forbidden", "refused"})


@dataclass
class Reconciled:
    """The numbers of a comparison."""

    projects: int = 0
    tasks: int = 0
    annotations: int = 0
    deleted: int = 0  # tasks that no longer exist there, with their answers
    changed: int = 0  # our tasks that were counted again
    settled: Settled | None = None
    problems: list[DomainError] = field(default_factory=list)

    def __str__(self) -> str:
        sentence = f"{self.annotations:,} annotations of {self.tasks:,} tasks in {self.projects:,} projects were read"
        return f"{sentence}; {self.changed:,} tasks were counted again."


def reconcile(*, bridge: LabelStudioBridge, progress: Progress | None = None) -> Reconciled:
    """Compare all projects of a bridge; raises Trouble if the server does not answer correctly.

    A problem with one project does not prevent others from being counted; it is raised at the end. If interrupted, it
    has written only what it read; running it again does the rest.
    """
    with Client.of(bridge.server) as client:
        return reconcile_by(client, bridge, progress or Unwatched())


def reconcile_by(client: Client, bridge: LabelStudioBridge, progress: Progress) -> Reconciled:
    report, touched = Reconciled(), set[int]()
    wrong: Trouble | None = None
    projects = list(bridge.projects.filter(gone_at=None).order_by("pk"))
    for number, project in enumerate(projects, start=1):
        progress.step(f"Reading project {number} of {len(projects)}")
        progress.start(LabelStudioTask.objects.filter(project=project).count())
        try:
            reading = look_at_all(client, project, progress)
        except Trouble as trouble:
            wrong = trouble
            if trouble.code not in OF_ONE_PROJECT:
                break
            continue
        touched |= reading.touched
        report.projects += 1
        report.tasks += len(reading.own_tasks)
        report.annotations += reading.annotations
        report.deleted += len(reading.deleted)
        report.problems += reading.problems
    touched |= unsettled_tasks(bridge)
    report.changed = len(touched)
    progress.step("Counting answers")
    report.settled = settle(bridge=bridge, task_ids=touched, progress=progress)
    if wrong is not None:
        raise wrong
    user_names.name_users(client, bridge.server)
    LabelStudioBridge.objects.filter(pk=bridge.pk).update(reconciled_at=timezone.now())
    return report


def unsettled_tasks(bridge: LabelStudioBridge) -> set[int]:
    """Return tasks with mirrored answers that are not counted yet: a job was killed, or an annotator was mapped or gave
    consent after the last count."""
    not_looked_at = Q(state=State.NEW) | Q(deleted_at__isnull=False) & ~Q(state=State.DELETED)
    named_since = Q(state=State.WAITING) & ~Q(user__state=LabelStudioUser.State.WAITING)
    rows = LabelStudioAnnotation.objects.filter(project__bridge=bridge, task__isnull=False)
    return set(
        rows.filter(not_looked_at | named_since | Q(state=State.CONSENT))
        .values_list("task_id", flat=True)
        .distinct()
    )
