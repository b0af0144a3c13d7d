"""Answers that were read from Label Studio and are missing there now: deleted, or lost when a database was restored.

A few missing answers are treated as deleted. If so many are missing that a backup may have been restored, or if a
number may now belong to another annotation, their labels stay until the lead decides.
"""

from collections.abc import Collection

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import User
from annotation.assignment.leases import lock_enrolments
from annotation.label_studio.base import job_queue
from annotation.label_studio.labels.settle import settle
from annotation.label_studio.models import (
    LabelStudioAnnotation,
    LabelStudioBridge,
    LabelStudioProject,
)
from annotation.label_studio.pull import problems
from foundation.errors import Conflict
from studies import audit

State, Missing = LabelStudioAnnotation.State, LabelStudioAnnotation.Missing
# So many missing answers of a project are taken for deleted without asking; more only if they are a small share.
FEW = 10
_SHARE = 0.1
_AT_ONCE = 1_000
_SETTLED_AT_ONCE = 200  # a larger number of tasks is counted by a job


def missing(
    *, project: LabelStudioProject, external_tasks: Collection[int], present: Collection[int]
) -> set[int]:
    """Return the rows of these completely read tasks that are not among those `present`."""
    present_ids, numbers, missing_ids = set(present), sorted(set(external_tasks)), set[int]()
    for start in range(0, len(numbers), _AT_ONCE):
        rows = LabelStudioAnnotation.objects.filter(
            project=project, external_task__in=numbers[start : start + _AT_ONCE], deleted_at=None, missing=""
        )
        missing_ids |= {
            pk for pk, external in rows.values_list("pk", "external_id") if external not in present_ids
        }
    return missing_ids


def missed(*, project: LabelStudioProject, rows: Collection[int]) -> set[int]:
    """Treat these rows as deleted, and return their tasks; if there are too many, hold them for a decision."""
    live_rows = LabelStudioAnnotation.objects.filter(project=project, deleted_at=None, missing="")
    hold = len(rows) > max(FEW, _SHARE * live_rows.count()) or held_count(project) > 0
    pks, tasks = sorted(rows), set[int]()
    for start in range(0, len(pks), _AT_ONCE):
        with transaction.atomic():
            lock_enrolments(project.bridge.campaign_id)
            locked = _lock(live_rows.filter(pk__in=pks[start : start + _AT_ONCE]))
            changed = LabelStudioAnnotation.objects.filter(pk__in=locked)
            if hold:
                changed.update(missing=Missing.HELD)
            else:
                changed.update(deleted_at=timezone.now())
                tasks |= {task for task in locked.values() if task is not None}
    return tasks


def held_count(of: LabelStudioProject | LabelStudioBridge) -> int:
    """Return the number of annotations that wait for the lead's decision whether they were deleted."""
    return _held(of).count()


def confirm_deletions(*, bridge: LabelStudioBridge, by: User | None) -> int:
    """Treat held annotations as deleted: their labels are left out of results, their places are free; return their
    number."""
    with transaction.atomic():
        tasks = _decide(
            bridge, by, "deletions_confirmed", missing="", deleted_at=timezone.now(), state=State.NEW
        )
    if len(set(tasks)) > _SETTLED_AT_ONCE:
        job_queue.start_settle(bridge=bridge, by=by)
    else:
        settle(bridge=bridge, task_ids=set(tasks))
    return len(tasks)


def keep_labels(*, bridge: LabelStudioBridge, by: User | None) -> int:
    """Keep the labels of held annotations, although Label Studio lost them; return the number of annotations.

    If an annotation reappears in Label Studio, its version there counts again.
    """
    with transaction.atomic():
        return len(_decide(bridge, by, "labels_kept", missing=Missing.KEPT))


def _decide(bridge: LabelStudioBridge, by: User | None, decision: str, **values: object) -> list[int]:
    lock_enrolments(bridge.campaign_id)
    locked = _lock(_held(bridge))
    if not locked:
        raise Conflict("nothing_held", "No lost annotations are waiting for a decision.")
    _held(bridge).update(**values)
    # The next comparison reports any other problem.
    told_bridges = LabelStudioBridge.objects.filter(pk=bridge.pk, problem=problems.MANY_DELETED)
    if told_bridges.update(problem="", problem_text="", problem_at=None):
        bridge.problem, bridge.problem_text, bridge.problem_at = "", "", None
    audit.record(
        by=by,
        action=f"label_studio.{decision}",
        subject=bridge.campaign,
        study=bridge.campaign.study,
        server=bridge.server.url,
        annotations=len(locked),
    )
    return [task for task in locked.values() if task is not None]


def _held(of: LabelStudioProject | LabelStudioBridge) -> QuerySet[LabelStudioAnnotation]:
    rows = LabelStudioAnnotation.objects.filter(missing=Missing.HELD)
    return rows.filter(project=of) if isinstance(of, LabelStudioProject) else rows.filter(project__bridge=of)


def _lock(rows: QuerySet[LabelStudioAnnotation]) -> dict[int, int | None]:
    """Lock rows in the order of their keys, as mirroring and settling do; return the task of each."""
    locked = rows.select_for_update(of=("self",), no_key=True).order_by("pk")
    return dict(locked.values_list("pk", "task_id"))
