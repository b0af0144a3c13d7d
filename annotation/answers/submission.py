"""Handling an answer: load one row, decide (`verdict`), write, and lease the next task in the same transaction.

Every answer that an annotator gives here takes this path. A 2xx response is sent after the transaction has committed;
the same `submission_id` again returns the annotation it created.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from accounts.models import Annotator, AnnotatorProfile
from annotation import integrations
from annotation.answers.attribute_references import shown_attributes
from annotation.answers.counters import counted
from annotation.answers.edit_window import edit_minutes
from annotation.answers.languages import language_of
from annotation.answers.questions import answer_review, storage
from annotation.answers.submission_rules import (
    Correction,
    FirstAnswer,
    LatestAnswer,
    Place,
    Refused,
    Repeated,
    StoredAnnotation,
    Submission,
    SubmissionRow,
    late_answer,
    shown_status,
    submission_id_taken,
    verdict,
)
from annotation.answers.validation import Answer, answer_of
from annotation.assignment import gold_and_repeats, leases, slots, sql
from annotation.assignment.eligibility import refusal_to_give, refusal_to_label
from annotation.assignment.quotas import profile_of
from annotation.models import Annotation, Assignment, Campaign, Task
from foundation.database.statements import changed, insert, known, rows
from foundation.database.values import moment, moment_value, uuid_value
from foundation.errors import DomainError, NotFound

NOTHING_LEFT = "nothing_left"
ENOUGH_FOR_TODAY = "enough_for_today"
State = Assignment.State
_FLAGS = (
    *("boxes_required", "imported", "agreed", "withdrew", "leases_to_end"),
    *("practice_not_passed", "has_rules"),
)
_MOMENTS = ("leased_at", "expires_at", "ended_at", "opened_at", "closed_at")
_CAMPAIGN_COLUMNS = (
    *("kind", "boxes_required", "lease_minutes", "seed", "opened_at", "closed_at", "imported", "study_id"),
    *("labelled_in", "options", "declaration", "offered_languages"),
)


class SentAnswer(NamedTuple):
    """A client's submission: the annotator and the assignment. Its other fields are checked (`validation`)."""

    user_id: int | None
    public_id: UUID
    submission_id: UUID
    answer: object  # unchanged, or an `Answer`
    active_seconds: float | None = None
    instrument_version: int | None = None


@dataclass(frozen=True)
class Saved:
    """The annotation of an answer, and the next task."""

    annotation_id: int
    submission_id: UUID  # an earlier annotation if the answer changed nothing
    revision: int
    status: str  # as shown to the annotator
    campaign: Campaign
    annotator_id: int
    has_rules: bool  # a lead set quality rules: see `annotation.quality.enforcement`
    language: str  # that the annotator reads
    following: Assignment | None = None
    why: str = ""  # the code of why no task follows


@counted
def submit(sent: SentAnswer, *, now: datetime | None = None) -> Saved:
    """Save an answer as `verdict` decides; raises the DomainError by which it refuses."""
    now = now or timezone.now()
    with _one_annotation_for(sent.submission_id):
        return _save(sent, now)[0]


@counted
def submit_and_next(sent: SentAnswer, *, now: datetime | None = None) -> Saved:
    """Save an answer as `submit` does, and lease the next task.

    If no further task is given out, the answer is saved nevertheless, and `why` has the reason.
    """
    now = now or timezone.now()
    following = None
    with _one_annotation_for(sent.submission_id):
        saved, row = _save(sent, now)
        claimed = _gives_next_at_once(row, saved.campaign)
        if claimed:
            turn = gold_and_repeats.turn_of(row.task_id, row.purpose)
            following = leases.claim_next(
                saved.campaign,
                row.annotator_id,
                turn=turn,
                profile=row.profile,
                most_screens=row.most_screens,
                now=now,
            )
    if not claimed:
        try:
            annotator = Annotator(pk=row.annotator_id)
            following = leases.next_assignment(campaign=saved.campaign, annotator=annotator, now=now)
        except DomainError as refusal:
            return replace(saved, why=refusal.code)
    if following is not None:
        return replace(saved, following=following)
    more = leases.more_tomorrow(saved.campaign, row.annotator_id)
    return replace(saved, why=ENOUGH_FOR_TODAY if more else NOTHING_LEFT)


@contextmanager
def _one_annotation_for(submission_id: UUID) -> Iterator[None]:
    """Run a transaction; the only unique value from outside is the submission's id."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        if Annotation.objects.filter(submission_id=submission_id).exists():
            raise submission_id_taken() from error  # by another assignment at the same time
        raise


def _save(sent: SentAnswer, now: datetime) -> tuple[Saved, SubmissionRow]:
    """Load, decide and write, in the caller's transaction."""
    row = _load(sent, now)
    if row is None:
        raise NotFound("assignment_not_found", "This task is not yours.")
    if row.assignment_state != State.LEASED:
        # It may have waited for locks: then all but the locked rows was read before. An open lease has no answer.
        row = _load(sent, now) or row
    campaign, task = _campaign_and_task(row)
    submission = Submission(
        answer=_read(sent.answer, task),
        names_unknown_version=sent.instrument_version is not None and row.instrument_id is None,
        edit_minutes=edit_minutes(campaign),
        now=now,
    )
    decision = verdict(row, submission, _latest_answer(row, task))
    if isinstance(decision, Refused):
        raise decision.error
    if isinstance(decision, Repeated):
        annotation, ended_at = decision.annotation, row.ended_at
    elif isinstance(decision, Correction):
        annotation, ended_at = _correct(row, decision, sent, task, now), row.ended_at
    else:
        annotation, ended_at = _end(row, decision, sent, task, now), now
    status = shown_status(
        annotation.status, ended_at=ended_at, expires_at=row.expires_at, closed_at=row.closed_at
    )
    saved = Saved(
        annotation_id=annotation.annotation_id,
        submission_id=annotation.submission_id,
        revision=annotation.revision,
        status=status,
        campaign=campaign,
        annotator_id=row.annotator_id,
        has_rules=row.has_rules,
        language=language_of(row.language, row.offered_languages),
    )
    return saved, row


def _load(sent: SentAnswer, now: datetime) -> SubmissionRow | None:
    lock = sql.LOCK_SUBMISSION if connection.features.has_select_for_update_of else ""
    parameters = {
        "public_id": uuid_value(sent.public_id),
        "user": sent.user_id,
        "submission": uuid_value(sent.submission_id),
        "version": sent.instrument_version,
        "now": moment_value(now),
    }
    loaded_rows = rows(sql.LOAD_SUBMISSION + lock, parameters)
    return _typed(dict(zip(sql.SUBMISSION_COLUMNS, loaded_rows[0], strict=True))) if loaded_rows else None


def _typed(columns: dict[str, Any]) -> SubmissionRow:
    """Return a loaded row with the types that both databases mean."""
    values = {name: value for name, value in columns.items() if name in SubmissionRow._fields}
    values |= {name: bool(columns[name]) for name in _FLAGS}
    values |= {name: columns[name] and moment(columns[name]) for name in _MOMENTS}
    profile = {field: columns[field] for field in AnnotatorProfile.FIELDS}
    return SubmissionRow(
        **values
        | {
            "task_public_id": UUID(str(columns["task_public_id"])),
            "options": _json(columns["options"]),
            "declaration": _json(columns["declaration"]),
            "offered_languages": _json(columns["offered_languages"]),
            "sent": _stored(columns, "sent", columns["sent_annotator_id"], columns["sent_assignment_id"]),
            "latest": _stored(columns, "latest", columns["annotator_id"], columns["assignment_id"]),
            "profile": profile_of(profile | {"languages": _json(profile["languages"])}),
        }
    )


def _stored(
    columns: dict[str, Any], name: str, annotator_id: int, assignment_id: int | None
) -> StoredAnnotation | None:
    if columns[f"{name}_id"] is None:
        return None
    return StoredAnnotation(
        annotation_id=columns[f"{name}_id"],
        submission_id=UUID(str(columns[f"{name}_submission_id"])),
        annotator_id=annotator_id,
        assignment_id=assignment_id,
        revision=columns[f"{name}_revision"],
        status=columns[f"{name}_status"],
        reason=columns.get(f"{name}_reason") or "",
    )


def _json(stored: Any) -> Any:
    return json.loads(stored) if isinstance(stored, str) else stored  # SQLite returns a JSON column as text


def _campaign_and_task(row: SubmissionRow) -> tuple[Campaign, Task]:
    """Return both as model instances with the loaded data."""
    columns = {name: getattr(row, name) for name in _CAMPAIGN_COLUMNS}
    campaign = known(Campaign, id=row.campaign_id, state=row.campaign_state, **columns)
    task = known(Task, id=row.task_id, public_id=row.task_public_id, campaign_id=row.campaign_id)
    task.campaign = campaign
    return campaign, task


def _read(answer: object, task: Task) -> Answer | DomainError:
    try:
        return answer if isinstance(answer, Answer) else Answer.parse(answer, task)
    except DomainError as error:
        return error


def _latest_answer(row: SubmissionRow, task: Task) -> LatestAnswer | None:
    if row.latest is None:
        return None
    annotation = Annotation.objects.get(pk=row.latest.annotation_id)
    annotation.campaign, annotation.task = task.campaign, task
    refusal = None
    if (tool := integrations.tool_of(task.campaign)) is not None:
        try:
            tool.check_correction(annotation)
        except DomainError as error:
            refusal = error
    return LatestAnswer(answer_of(annotation), refusal)


def _end(
    row: SubmissionRow, decision: FirstAnswer, sent: SentAnswer, task: Task, now: datetime
) -> StoredAnnotation:
    """End the assignment with its first answer."""
    slot = row.slot
    if decision.place is Place.WANTED:
        slot = slots.take(row.task_id, row.annotator_id)
        decision = late_answer(decision.answer, slot)
    if decision.place is not Place.KEPT:
        slot = None
    stored = StoredAnnotation(
        annotation_id=0,  # until it is stored
        submission_id=sent.submission_id,
        annotator_id=row.annotator_id,
        assignment_id=row.assignment_id,
        revision=1,
        status=decision.status,
        reason=decision.reason,
    )
    state = State.SURPLUS if decision.status == Annotation.Status.SURPLUS else State.SUBMITTED
    ended = {"state": state.value, "slot": slot, "ended_at": moment_value(now)}
    annotation_id = _store(_values(row, stored, decision.answer, sent, now) | ended, decision.answer, task)
    answer_review.answered(task)
    if row.slot is not None and slot is None:
        slots.give_back([row.task_id])
    return stored._replace(annotation_id=annotation_id)


def _correct(
    row: SubmissionRow, decision: Correction, sent: SentAnswer, task: Task, now: datetime
) -> StoredAnnotation:
    """Store the next revision; the assignment does not change."""
    Annotation.objects.filter(pk=decision.replaces.annotation_id).update(is_latest=False)
    stored = decision.replaces._replace(
        submission_id=sent.submission_id, revision=decision.replaces.revision + 1
    )
    ended_at = None if row.ended_at is None else moment_value(row.ended_at)
    ended = {"state": row.assignment_state, "slot": row.slot, "ended_at": ended_at}
    annotation_id = _store(_values(row, stored, decision.answer, sent, now) | ended, decision.answer, task)
    answer_review.answered(task)
    return stored._replace(annotation_id=annotation_id)


def _values(
    row: SubmissionRow, stored: StoredAnnotation, answer: Answer, sent: SentAnswer, now: datetime
) -> dict[str, Any]:
    """Return the columns of an annotation; working time is limited to the time since the lease."""
    elapsed = max(0.0, (now - row.leased_at).total_seconds())
    return {
        "assignment": row.assignment_id,
        "submission": uuid_value(stored.submission_id),
        "campaign": row.campaign_id,
        "task": row.task_id,
        "annotator": row.annotator_id,
        "instrument": row.instrument_id,
        "revision": stored.revision,
        "is_latest": True,
        "status": str(stored.status),
        "reason": stored.reason,
        "none": answer.none_of_the_above,
        "justification": answer.justification,
        "seconds": None if sent.active_seconds is None else min(sent.active_seconds, elapsed),
        "language": language_of(row.language, row.offered_languages),
    }


def _store(values: dict[str, Any], answer: Answer, task: Task) -> int:
    """Write assignment, annotation, judgements and drawings; return the annotation's id."""
    if answer.questions is not None:
        return storage.store(values, answer.questions, task)
    present = {
        attribute.attribute_id: None if answer.rating is not None else attribute.attribute_id in answer.ticked
        for attribute in shown_attributes(task)
    }
    if connection.vendor == "postgresql":
        return int(rows(sql.STORE_ANSWER, values | _arrays(present, answer))[0][0])
    changed(sql.END_ASSIGNMENT, values)
    annotation_id = int(rows(sql.INSERT_ANNOTATION, values)[0][0])
    judgements = [(annotation_id, *judgement, answer.rating) for judgement in present.items()]
    judgement_ids = dict(insert(sql.JUDGEMENT_COLUMNS, judgements, "attribute_id, id"))
    boxes = [(judgement_ids[box.attribute_id], *box.sides, False) for box in answer.boxes]
    insert(sql.BOX_COLUMNS, boxes, "id")
    return annotation_id


def _arrays(present: dict[int, bool | None], answer: Answer) -> dict[str, Any]:
    """Return judgements and boxes as one array for each column."""
    return {
        "rating": answer.rating,
        "attributes": list(present),
        "present": list(present.values()),
        "boxed": [box.attribute_id for box in answer.boxes],
        "x": [box.x for box in answer.boxes],
        "y": [box.y for box in answer.boxes],
        "width": [box.width for box in answer.boxes],
        "height": [box.height for box in answer.boxes],
    }


def _gives_next_at_once(row: SubmissionRow, campaign: Campaign) -> bool:
    """Return whether `leases.next_assignment` would only claim a task, so that this transaction can do it.

    An answer whose place was lost has locked its task to take another. A second task is locked in a separate
    transaction, because two people who each have one task and want the other's would wait for each other.
    """
    if row.slot is None and row.purpose == Assignment.Purpose.LABEL:
        return False
    refusal = refusal_to_give(campaign) or refusal_to_label(row.enrolment_state, consented=row.consented)
    return refusal is None and not row.leases_to_end and not row.practice_not_passed
