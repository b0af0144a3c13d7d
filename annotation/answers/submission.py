"""Taking in what an annotator answered: once, whole, and for ever.

A 2xx answer is given after the transaction committed; the same `submission_id` again returns the annotation
that it made.
"""

import uuid
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import Annotator, User
from annotation.answers.validation import Answer, answer_of, instrument_unknown
from annotation.assignment import slots
from annotation.assignment.leases import lock_enrolment, lock_own
from annotation.label_studio.base import reasons
from annotation.label_studio.base.invalidate import look_again
from annotation.models import (
    Annotation,
    Assignment,
    Box,
    Campaign,
    Instrument,
    Judgement,
    LabelStudioAnnotation,
    LabelStudioBridge,
)
from foundation.errors import Conflict, Forbidden
from studies import audit

__all__ = ["Answer", "exclude", "readmit", "submit"]

State = Assignment.State
Status = Annotation.Status
LATE = "the lease had run out and no place was free for this annotator"
CLOSED = "the lease had run out and the campaign was closed"


def submit(
    *,
    assignment: Assignment,
    annotator: Annotator,
    submission_id: uuid.UUID,
    answer: Answer,
    active_seconds: float | None = None,
    instrument_version: int | None = None,
    now: datetime | None = None,
) -> Annotation:
    """Keep an answer, and return the annotation that now stands for the assignment.

    - Before the lease runs out: accepted, also when the campaign was paused or closed meanwhile.
    - Afterwards: accepted when a slot is free and the campaign not closed, else surplus.
    - To a gold task or a repeat: kept as that, however late.
    - On a submitted assignment: a correction, kept as the next revision with the status of the one before. An
      answer that changes nothing adds none.

    `instrument_version` is the version of the guidelines that the annotator saw, None for the latest.
    """
    now = now or timezone.now()
    instrument = _instrument(assignment.task.campaign_id, instrument_version)
    try:
        with transaction.atomic():
            # A retry of what was kept is answered whatever happened since: the annotator may have been paused.
            before = Annotation.objects.filter(submission_id=submission_id, annotator=annotator).first()
            if before is not None:
                return _repeated(before, assignment)
            enrolment = lock_enrolment(assignment.task.campaign, annotator)
            assignment = lock_own(assignment, annotator)
            before = Annotation.objects.filter(submission_id=submission_id).first()
            if before is not None:
                return _repeated(before, assignment)
            latest = assignment.annotations.filter(is_latest=True).first()
            if latest is not None:
                return _correct(
                    enrolment.campaign,
                    assignment,
                    latest,
                    instrument,
                    submission_id,
                    answer,
                    active_seconds,
                    now,
                )
            status, reason = _end(enrolment.campaign, assignment, now)
            return _write(
                assignment,
                instrument,
                submission_id,
                answer,
                active_seconds,
                now,
                status=status,
                reason=reason,
            )
    except IntegrityError as error:
        # The only unique value from outside: another assignment took this submission id meanwhile.
        if Annotation.objects.filter(submission_id=submission_id).exists():
            raise _taken() from error
        raise


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
    look_again([annotation.task_id])
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
    """Take an exclusion back. Where the place was given to somebody else, the annotation becomes surplus."""
    _refuse_while_dropped(annotation)
    annotation = take_back(annotation)
    audit.record(by=by, action="annotation.readmitted", subject=annotation, study=annotation.campaign.study)
    return annotation


def take_back(annotation: Annotation) -> Annotation:
    """Readmit without an entry of its own: for a verb that records it for all. Call it in a transaction."""
    annotation = _locked(annotation)
    if annotation.status != Status.EXCLUDED:
        raise Conflict("not_excluded", "This annotation is not excluded.")
    status, reason = Status.ACCEPTED, ""
    assignment = annotation.assignment
    if assignment is not None and assignment.slot is None:
        slot = slots.take(annotation.task_id, annotation.annotator_id)
        if slot is None:
            status, reason = Status.SURPLUS, "no place was free for this annotator when it was readmitted"
        else:
            Assignment.objects.filter(pk=assignment.pk).update(state=State.SUBMITTED, slot=slot)
    _set_status(annotation, status, reason)
    look_again([annotation.task_id])
    return annotation


def _refuse_while_dropped(annotation: Annotation) -> None:
    if annotation.status_reason not in reasons.OURS:
        return
    if LabelStudioBridge.objects.filter(campaign=annotation.campaign_id).exists():
        raise Conflict(
            "dropped_in_label_studio",
            f"This answer counts no more because of what happened in Label Studio: {annotation.status_reason}. "
            "It counts again once that is undone there.",
        )


def _repeated(before: Annotation, assignment: Assignment) -> Annotation:
    if before.assignment_id != assignment.pk:
        raise _taken()
    return before


def _taken() -> Conflict:
    return Conflict(
        "submission_id_taken",
        "This submission_id was used for another task; make a new one for each submission.",
        fields={"submission_id": "used before"},
    )


def _end(campaign: Campaign, assignment: Assignment, now: datetime) -> tuple[str, str]:
    """Give the assignment its final state, and return the status of its annotation."""
    if assignment.purpose != Assignment.Purpose.LABEL:
        assignment.state, assignment.ended_at = State.SUBMITTED, now
        assignment.save(update_fields=["ended_at", "state"])
        return Status(assignment.purpose), ""
    if assignment.slot is not None and (
        assignment.expires_at > now or campaign.state != Campaign.State.CLOSED
    ):
        slot: int | None = assignment.slot  # nobody took it yet: being late by itself does no harm
        reason = ""
    elif campaign.state == Campaign.State.CLOSED:
        slot, reason = None, CLOSED
    else:
        slot = slots.take(assignment.task_id, assignment.annotator_id)
        reason = LATE if slot is None else ""
    held = assignment.slot is not None
    assignment.slot, assignment.ended_at = slot, now
    assignment.state = State.SURPLUS if slot is None else State.SUBMITTED
    assignment.save(update_fields=["slot", "ended_at", "state"])
    if held and slot is None:
        slots.give_back([assignment.task_id])
    return (Status.SURPLUS if slot is None else Status.ACCEPTED), reason


def _correct(
    campaign: Campaign,
    assignment: Assignment,
    latest: Annotation,
    instrument: Instrument | None,
    submission_id: uuid.UUID,
    answer: Answer,
    active_seconds: float | None,
    now: datetime,
) -> Annotation:
    if answer == answer_of(latest):
        return latest
    if campaign.state == Campaign.State.CLOSED:
        raise Forbidden("campaign_closed", "The campaign is closed; answers cannot be changed any more.")
    if LabelStudioAnnotation.objects.filter(annotation=latest).exists():
        raise Conflict(
            "labelled_in_label_studio", "This was answered in Label Studio; please change the answer there."
        )
    Annotation.objects.filter(pk=latest.pk).update(is_latest=False)
    return _write(
        assignment,
        instrument,
        submission_id,
        answer,
        active_seconds,
        now,
        status=latest.status,
        reason=latest.status_reason,
        revision=latest.revision + 1,
    )


def _instrument(campaign_id: int, version: int | None) -> Instrument | None:
    versions = Instrument.objects.filter(campaign=campaign_id).order_by("-version")
    if version is None:
        return versions.first()
    found = versions.filter(version=version).first()
    if found is None:
        raise instrument_unknown()
    return found


def _write(
    assignment: Assignment,
    instrument: Instrument | None,
    submission_id: uuid.UUID,
    answer: Answer,
    active_seconds: float | None,
    now: datetime,
    *,
    status: str,
    reason: str,
    revision: int = 1,
) -> Annotation:
    task = assignment.task
    elapsed = max(0.0, (now - assignment.leased_at).total_seconds())
    annotation = Annotation.objects.create(
        submission_id=submission_id,
        campaign=task.campaign,
        task=task,
        annotator_id=assignment.annotator_id,
        assignment=assignment,
        instrument=instrument,
        revision=revision,
        status=status,
        status_reason=reason,
        none_of_the_above=answer.none_of_the_above,
        justification=answer.justification,
        active_seconds=None if active_seconds is None else min(active_seconds, elapsed),
    )
    judgements = Judgement.objects.bulk_create(
        Judgement(
            annotation=annotation,
            attribute_id=attribute_id,
            present=None if answer.rating is not None else attribute_id in answer.ticked,
            rating=answer.rating,
        )
        for attribute_id in task.task_attributes.order_by("position").values_list("attribute_id", flat=True)
    )
    by_attribute = {judgement.attribute_id: judgement for judgement in judgements}
    Box.objects.bulk_create(
        Box(judgement=by_attribute[box.attribute_id], x=box.x, y=box.y, width=box.width, height=box.height)
        for box in answer.boxes
    )
    return annotation


def _locked(annotation: Annotation) -> Annotation:
    # The assignment first, as a correction does, so that the two cannot wait for each other.
    if annotation.assignment_id is not None:
        list(Assignment.objects.select_for_update().filter(pk=annotation.assignment_id))
    return (
        Annotation.objects.select_for_update(of=("self",))
        .select_related("campaign__study", "assignment")
        .get(pk=annotation.pk)
    )


def _set_status(annotation: Annotation, status: str, reason: str) -> None:
    annotation.status, annotation.status_reason = status, reason
    annotation.save(update_fields=["status", "status_reason"])
