"""One mirrored annotation by itself: whether it may become a label, of whom, and what it answers."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from annotation.answers import Answer
from annotation.bridge import reasons
from annotation.bridge.answering import Asked, Unreadable, read
from annotation.models import (
    Annotation,
    Campaign,
    Enrolment,
    LabelStudioAnnotation,
    LabelStudioBridge,
    LabelStudioProject,
    LabelStudioUser,
)

State = LabelStudioAnnotation.State
Status = Annotation.Status


@dataclass(slots=True)
class Part:
    """An annotator's assignment of a task, and the latest answer to it where there is one."""

    assignment_id: int
    task_id: int
    annotator_id: int
    state: str
    slot: int | None
    annotation_id: int | None = None
    revision: int = 0
    status: str = ""
    reason: str = ""
    submission_id: uuid.UUID | None = None
    row: int | None = None  # of the mirror, that the answer was made of

    @property
    def ours(self) -> bool:
        """Whether it was answered on our own pages."""
        dropped = self.status == Status.EXCLUDED and self.reason in reasons.OURS
        return self.annotation_id is not None and self.row is None and not dropped

    @property
    def kept_out(self) -> bool:
        """Whether somebody decided here that the answer counts no more."""
        return self.status == Status.EXCLUDED and self.reason not in reasons.OURS


@dataclass(slots=True)
class Verdict:
    """What becomes of a mirrored annotation; `state` of a candidate is decided among those of its task."""

    row: LabelStudioAnnotation
    state: str
    reason: str = ""
    annotator_id: int | None = None
    candidate: bool = False
    answer: Answer | None = None  # None of a candidate: the label as it is stored
    frozen: bool = False  # what happened to it after the campaign was closed changes nothing


@dataclass(frozen=True)
class Known:
    """What was decided here, read under the locks of a batch."""

    bridge: LabelStudioBridge
    campaign: Campaign
    projects: Mapping[int, LabelStudioProject]
    users: Mapping[int, LabelStudioUser]
    enrolments: Mapping[int, str]  # annotator → state
    consenting: frozenset[int]
    asked: Mapping[int, Asked]
    now: datetime

    @property
    def closed_at(self) -> datetime | None:
        return self.campaign.closed_at if self.campaign.state == Campaign.State.CLOSED else None

    def keeps(self, annotator_id: int) -> tuple[str, str] | None:
        """Return what keeps an annotator's answers from being labels now, as state and reason; None if nothing."""
        enrolled = self.enrolments.get(annotator_id)
        if enrolled is None:
            return State.WAITING, reasons.NOT_ENROLLED
        if enrolled == Enrolment.State.EXCLUDED:
            return State.EXCLUDED, reasons.PUT_OUT
        if annotator_id not in self.consenting:
            return State.CONSENT, reasons.NO_CONSENT
        if enrolled == Enrolment.State.PAUSED:
            return State.WAITING, reasons.PAUSED
        return None

    def submission_id(self, row: LabelStudioAnnotation, annotator_id: int, revision: int) -> uuid.UUID:
        """Return the name of what is made of a row as it is: made again it is the same."""
        project = self.projects[row.project_id].external_id
        name = f"{project}:{row.external_id}:{annotator_id}:{revision}:{row.digest}"
        return uuid.uuid5(self.bridge.public_id, name)


def judge(row: LabelStudioAnnotation, known: Known, part_of: Mapping[int, Part]) -> Verdict:
    """Return what a row is taken for, before it is known what else was answered to its task."""
    user = known.users.get(row.user_id or 0)
    annotator = user.annotator_id if user is not None else None
    late = known.closed_at is not None and (row.deleted_at or row.changed_at) > known.closed_at
    found = _kept_from(row, user, annotator, known)
    if found is None and late:
        found = State.WAITING, reasons.CLOSED
    if found is not None:
        return Verdict(row, *found, annotator_id=annotator, frozen=late)
    assert annotator is not None
    part = part_of.get(annotator)
    if reasons.why_no_result(row.result) == reasons.WITHDRAWN and part is not None and part.row == row.pk:
        return Verdict(row, State.NEW, annotator_id=annotator, candidate=True)
    try:
        answer = read(row.result, known.asked[row.task_id or 0])
    except Unreadable as error:
        return Verdict(row, State.REFUSED, str(error), annotator_id=annotator)
    return Verdict(row, State.NEW, annotator_id=annotator, candidate=True, answer=answer)


def _kept_from(
    row: LabelStudioAnnotation, user: LabelStudioUser | None, annotator: int | None, known: Known
) -> tuple[str, str] | None:
    if row.deleted_at is not None:
        return State.DELETED, ""
    if row.cancelled:
        return State.SKIPPED, ""
    if user is None:
        return State.REFUSED, reasons.NO_MAKER
    if annotator is None:
        ignored = user.state == LabelStudioUser.State.IGNORED
        return (State.LEFT_OUT if ignored else State.WAITING), ""
    if row.updated_by not in (None, user.external_id) and not row.allowed:
        return State.FLAGGED, ""
    project = known.projects[row.project_id]
    if project.annotator_id not in (None, annotator):
        return State.REFUSED, reasons.NOT_THEIR_PROJECT
    return known.keeps(annotator)
