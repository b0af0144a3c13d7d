"""Decisions here that may change labels from the mirror: the next comparison settles those labels again."""

from collections.abc import Iterable

from django.db.models import Q, QuerySet

from accounts.models import Annotator
from annotation.label_studio.base import job_queue
from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioBridge, LabelStudioUser
from annotation.models import Campaign

State = LabelStudioAnnotation.State
_AT_ONCE = 10_000  # SQLite takes 32,766 values in a statement


def resettle_tasks(task_ids: Iterable[int]) -> None:
    """Queue settling of the answers to these tasks in Label Studio: places became free, or labels count again.

    Call it in the transaction of the decision.
    """
    _mark(LabelStudioAnnotation.objects.filter(task__in=set(task_ids)))


def resettle_campaign(*, campaign: Campaign, annotator_id: int | None = None) -> None:
    """Queue settling of an annotator's answers in Label Studio, or of everybody's: what counts has changed."""
    rows = LabelStudioAnnotation.objects.filter(project__bridge__campaign=campaign, task__isnull=False)
    _mark(rows if annotator_id is None else rows.filter(_of(annotator_id)))


def resettle_user(user: LabelStudioUser) -> None:
    """Queue settling of a user's answers: their annotator, or whether they count, has changed."""
    _mark(LabelStudioAnnotation.objects.filter(Q(user=user) | Q(given_to=user), task__isnull=False))


def profile_changed(annotator: Annotator) -> None:
    """Queue the allocation of places in tasks with quotas that the annotator answered in Label Studio."""
    rows = LabelStudioAnnotation.objects.filter(_of(annotator.pk), task__quota_mix__gt="")
    bridges = list(LabelStudioBridge.objects.filter(pk__in=rows.values("project__bridge")).order_by("pk"))
    if not bridges:
        return
    _mark(rows)
    for bridge in bridges:
        for user in LabelStudioUser.objects.filter(annotator=annotator, server=bridge.server_id):
            job_queue.start_settle(bridge=bridge, by=None, user=user.pk)


def reopened(campaign: Campaign) -> None:
    """Queue settling of answers that were frozen because the campaign was closed."""
    resettle_campaign(campaign=campaign)
    for bridge in LabelStudioBridge.objects.filter(campaign=campaign):
        job_queue.start_settle(bridge=bridge, by=None)


def _of(annotator_id: int) -> Q:
    return Q(user__annotator=annotator_id) | Q(given_to__annotator=annotator_id)


def _mark(rows: QuerySet[LabelStudioAnnotation]) -> None:
    # In the order of their keys, as mirroring and settling lock them. Deleted answers are included: their labels may
    # have been kept only because the campaign was closed.
    locked = rows.select_for_update(of=("self",), no_key=True).order_by("pk")
    pks = list(locked.values_list("pk", flat=True))
    for start in range(0, len(pks), _AT_ONCE):
        batch = LabelStudioAnnotation.objects.filter(pk__in=pks[start : start + _AT_ONCE])
        batch.update(state=State.NEW)
