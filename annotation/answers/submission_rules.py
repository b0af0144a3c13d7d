"""The verdict on a submission: accepted, surplus, a check, a correction, a repetition or refused. A pure function.

It reads nothing: `annotation.answers.submission` loads the values and writes the verdict.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, NamedTuple
from uuid import UUID

from annotation.answers.edit_window import ANSWERED
from annotation.answers.validation import Answer, instrument_unknown
from annotation.assignment.eligibility import refusal_to_label
from annotation.assignment.quotas import Profile
from annotation.models import Annotation, Assignment, Campaign
from foundation.errors import Conflict, DomainError, Forbidden

Status = Annotation.Status
LATE = "the lease had run out and no place was free for this annotator"
CLOSED = "the lease had run out and the campaign was closed"


class StoredAnnotation(NamedTuple):
    """An annotation that was saved before."""

    annotation_id: int
    submission_id: UUID
    annotator_id: int
    assignment_id: int | None
    revision: int
    status: str
    reason: str = ""


class SubmissionRow(NamedTuple):
    """The database's data about the answered assignment: a typed row of `sql.LOAD_SUBMISSION`."""

    assignment_id: int
    annotator_id: int
    assignment_state: str
    purpose: str
    slot: int | None
    leased_at: datetime
    expires_at: datetime
    ended_at: datetime | None
    task_id: int
    task_public_id: UUID
    campaign_id: int
    campaign_state: str
    kind: str
    boxes_required: bool
    lease_minutes: int
    seed: int
    opened_at: datetime | None
    closed_at: datetime | None
    imported: bool
    labelled_in: str  # the outside tool that gives out the campaign's tasks, "" for our own pages
    study_id: int
    options: Mapping[str, Any]
    declaration: Mapping[str, Any] | None  # of a kind of questions
    enrolment_state: str
    most_screens: int | None  # of the annotator in the campaign
    language: str | None  # that they chose to read
    offered_languages: Sequence[str] | None  # of the campaign; None if no lead decided
    agreed: bool  # to the study's current consent text, without a withdrawal
    withdrew: bool  # from the study, and did not agree again
    instrument_id: int | None  # of the version that the submission names, or the latest
    sent: StoredAnnotation | None  # stored under the submission's id
    latest: StoredAnnotation | None  # the revision of this assignment that counts
    leases_to_end: bool  # some ran out, or the annotator has another open task
    practice_not_passed: bool
    has_rules: bool  # a lead set quality rules
    profile: Profile

    @property
    def consented(self) -> bool:
        """Whether the annotator agreed to the study's current text and did not withdraw."""
        return self.agreed and not self.withdrew


@dataclass(frozen=True)
class Submission:
    """The submission; `answer` is a refusal if the answer cannot be read."""

    answer: Answer | DomainError
    names_unknown_version: bool  # of the guidelines
    edit_minutes: int  # for how long an answer can be corrected
    now: datetime


class LatestAnswer(NamedTuple):
    """The answer of the latest revision; needed only for a correction."""

    answer: Answer
    refusal: DomainError | None = None  # the outside tool in which it was given


class Place(Enum):
    """What happens to the place that the assignment takes in its task."""

    KEPT = "kept"
    NOT_NEEDED = "not needed"  # by a check
    GIVEN_BACK = "given back"
    WANTED = "wanted"  # it is lost: accepted if another is free


@dataclass(frozen=True)
class Refused:
    """Nothing is written."""

    error: DomainError


@dataclass(frozen=True)
class Repeated:
    """The answer is stored already."""

    annotation: StoredAnnotation


@dataclass(frozen=True)
class FirstAnswer:
    """The first answer to the assignment, and the status of its annotation."""

    answer: Answer
    status: Status
    place: Place
    reason: str = ""


@dataclass(frozen=True)
class Correction:
    """The next revision, with the status of the revision that it replaces."""

    answer: Answer
    replaces: StoredAnnotation


Verdict = Refused | Repeated | FirstAnswer | Correction


def verdict(row: SubmissionRow, submission: Submission, latest_answer: LatestAnswer | None) -> Verdict:
    """Decide about a submission.

    - Sent before: repeated, whatever happened since.
    - Before the lease runs out: accepted, also when the campaign was paused or closed meanwhile.
    - Afterwards: accepted while the place is held or another is free and the campaign is not closed, else surplus.
    - To a gold task or a repeat: kept as that, however late.
    - To an answered assignment: a correction, in the time for it. One that changes nothing is repeated.
    - Refused: a paused or excluded annotator, missing consent, an answer that cannot be read, a correction that comes
      too late.
    """
    if _is_too_late_to_correct(row, submission):
        message = "This answer can no longer be changed, because the time for changes is over."
        return Refused(Forbidden("edit_window_over", message))
    if isinstance(submission.answer, DomainError):
        return Refused(submission.answer)
    if submission.names_unknown_version:
        return Refused(instrument_unknown())
    if row.sent is not None and row.sent.annotator_id == row.annotator_id:
        return _repeated(row, row.sent)
    if refusal := refusal_to_label(row.enrolment_state, consented=row.consented):
        return Refused(refusal)
    if row.sent is not None:
        return _repeated(row, row.sent)
    if row.latest is None:
        return _first_answer(row, submission.answer, submission.now)
    assert latest_answer is not None  # loaded if there is a latest revision
    return _correction(row, row.latest, submission.answer, latest_answer)


def late_answer(answer: Answer, slot: int | None) -> FirstAnswer:
    """Return the verdict on an answer whose place was lost, given the slot it took instead, None if it got none."""
    if slot is None:
        return FirstAnswer(answer, Status.SURPLUS, Place.GIVEN_BACK, LATE)
    return FirstAnswer(answer, Status.ACCEPTED, Place.KEPT)


def submission_id_taken() -> Conflict:
    """Return the refusal of a submission id that was used for another assignment."""
    return Conflict(
        "submission_id_taken",
        "This submission_id was used for another task; make a new one for each submission.",
        fields={"submission_id": "used before"},
    )


def shown_status(
    status: str, *, ended_at: datetime | None, expires_at: datetime, closed_at: datetime | None
) -> str:
    """Return the status shown to an annotator: a check has the status that a label would have."""
    if status not in {Status.GOLD, Status.REPEAT}:
        return str(status)
    late = ended_at is not None and closed_at is not None and ended_at >= max(closed_at, expires_at)
    return (Status.SURPLUS if late else Status.ACCEPTED).value


def _is_too_late_to_correct(row: SubmissionRow, submission: Submission) -> bool:
    if row.assignment_state not in ANSWERED or row.ended_at is None:
        return False
    if submission.now < row.ended_at + timedelta(minutes=submission.edit_minutes):
        return False
    return row.sent is None or row.sent.assignment_id != row.assignment_id


def _repeated(row: SubmissionRow, sent: StoredAnnotation) -> Verdict:
    return Repeated(sent) if sent.assignment_id == row.assignment_id else Refused(submission_id_taken())


def _first_answer(row: SubmissionRow, answer: Answer, now: datetime) -> FirstAnswer:
    closed = row.campaign_state == Campaign.State.CLOSED
    if row.purpose != Assignment.Purpose.LABEL:
        return FirstAnswer(answer, Status(row.purpose), Place.NOT_NEEDED)
    if row.slot is not None and (row.expires_at > now or not closed):
        # Nobody took the place, so a late answer is accepted.
        return FirstAnswer(answer, Status.ACCEPTED, Place.KEPT)
    if closed:
        return FirstAnswer(answer, Status.SURPLUS, Place.GIVEN_BACK, CLOSED)
    return FirstAnswer(answer, Status.ACCEPTED, Place.WANTED)


def _correction(
    row: SubmissionRow, latest: StoredAnnotation, answer: Answer, latest_answer: LatestAnswer
) -> Verdict:
    if answer == latest_answer.answer:
        return Repeated(latest)
    if row.campaign_state == Campaign.State.CLOSED:
        message = "The campaign is closed; answers can no longer be changed."
        return Refused(Forbidden("campaign_closed", message))
    if latest_answer.refusal is not None:
        return Refused(latest_answer.refusal)
    return Correction(answer, latest)
