"""Excluding a single annotation from every result, and undoing this."""

from django.db import transaction

from accounts.models import User
from annotation import integrations
from annotation.assignment import slots
from annotation.models import Annotation, Assignment, Task
from foundation.errors import Conflict
from studies import audit

State = Assignment.State
Status = Annotation.Status


@transaction.atomic
def exclude(*, annotation: Annotation, by: User | None, reason: str, ask_again: bool = True) -> Annotation:
    """Keep an annotation out of every result; with `ask_again` its task is offered to somebody else."""
    annotation = _locked(annotation)
    if not annotation.is_latest or annotation.status != Status.ACCEPTED:
        raise Conflict("not_accepted", "Only the latest revision of an accepted annotation can be excluded.")
    _set_status(annotation, Status.EXCLUDED, reason.strip()[:300])
    if ask_again and annotation.assignment is not None and annotation.assignment.slot is not None:
        Assignment.objects.filter(pk=annotation.assignment.pk).update(state=State.SURPLUS, slot=None)
        slots.give_back([annotation.task_id])
    for tool in integrations.registered():
        tool.places_changed([annotation.task_id])
    audit.record(
        by=by,
        action="annotation.excluded",
        subject=annotation,
        study=annotation.campaign.study,
        reason=reason,
        ask_again=ask_again,
    )
    return annotation


@transaction.atomic
def readmit(*, annotation: Annotation, by: User | None) -> Annotation:
    """Undo an exclusion. If the place was given to somebody else, the annotation becomes surplus."""
    if (tool := integrations.tool_of(annotation.campaign)) is not None:
        tool.check_readmission(annotation)
    annotation = take_back(annotation)
    audit.record(by=by, action="annotation.readmitted", subject=annotation, study=annotation.campaign.study)
    return annotation


def take_back(annotation: Annotation) -> Annotation:
    """Readmit without a separate entry, for a verb that records one for all. Call it in a transaction."""
    annotation = _locked(annotation)
    if annotation.status != Status.EXCLUDED:
        raise Conflict("not_excluded", "This annotation is not excluded.")
    status, reason = Status.ACCEPTED, ""
    assignment = annotation.assignment
    if assignment is not None and assignment.slot is None:
        slot = slots.take(annotation.task_id, annotation.annotator_id)
        if slot is None:
            status, reason = (
                Status.SURPLUS,
                "no place was free for this annotator when the answer was readmitted",
            )
        else:
            Assignment.objects.filter(pk=assignment.pk).update(state=State.SUBMITTED, slot=slot)
    _set_status(annotation, status, reason)
    for tool in integrations.registered():
        tool.places_changed([annotation.task_id])
    return annotation


def _locked(annotation: Annotation) -> Annotation:
    # The assignment first, as a correction does, so that the two cannot wait for each other. The task before what an
    # outside tool's records hold of it, as everybody does who marks these.
    if annotation.assignment_id is not None:
        list(Assignment.objects.select_for_update().filter(pk=annotation.assignment_id))
    locked = (
        Annotation.objects.select_for_update(of=("self",))
        .select_related("campaign__study", "assignment")
        .get(pk=annotation.pk)
    )
    list(Task.objects.select_for_update(no_key=True).filter(pk=locked.task_id).values_list("pk"))
    return locked


def _set_status(annotation: Annotation, status: str, reason: str) -> None:
    annotation.status, annotation.status_reason = status, reason
    annotation.save(update_fields=["status", "status_reason"])
