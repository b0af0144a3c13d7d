"""A decision here may change what follows from the mirror: the next comparison looks at it anew."""

from collections.abc import Iterable

from django.db.models import QuerySet

from annotation.models import Campaign, LabelStudioAnnotation

State = LabelStudioAnnotation.State


def look_again(task_ids: Iterable[int]) -> None:
    """Have what was answered over there to these tasks settled again: places became free, or labels came back.

    Call it in the transaction of the decision.
    """
    _mark(LabelStudioAnnotation.objects.filter(task__in=set(task_ids)))


def look_again_at(*, campaign: Campaign, annotator_id: int | None = None) -> None:
    """Have what an annotator answered over there settled again, or everybody: it was decided anew what counts."""
    rows = LabelStudioAnnotation.objects.filter(project__bridge__campaign=campaign, task__isnull=False)
    _mark(rows if annotator_id is None else rows.filter(user__annotator=annotator_id))


def _mark(rows: QuerySet[LabelStudioAnnotation]) -> None:
    # In the order of their keys, as mirroring and settling lock them.
    locked = rows.filter(deleted_at=None).select_for_update(of=("self",), no_key=True).order_by("pk")
    if pks := list(locked.values_list("pk", flat=True)):
        LabelStudioAnnotation.objects.filter(pk__in=pks).update(state=State.NEW)
