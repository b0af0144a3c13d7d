"""The verdict on one mirrored annotation: whether it may become a label, whose it is, and what it answers."""

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from annotation.answers.validation import Answer
from annotation.label_studio.base import reasons
from annotation.label_studio.labels.convert import Question, Unreadable, read_answer
from annotation.label_studio.labels.versions import Version, counting
from annotation.label_studio.models import (
    LabelStudioAnnotation,
    LabelStudioBridge,
    LabelStudioProject,
    LabelStudioUser,
)
from annotation.models import Annotation, Assignment, Campaign, Enrolment

State, Edit = LabelStudioAnnotation.State, LabelStudioAnnotation.Edit
Status = Annotation.Status
# The first bytes of a `submission_id` say which bridge made it: rows of the mirror come to stand for others' answers.
_MARKED = 6
# Label Studio's clock and ours need not agree on when a campaign was closed.
CLOCKS_DIFFER = timedelta(minutes=5)


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
    made_there: bool = False  # by this bridge, whether the row stands for it still or for somebody else's

    @property
    def from_our_pages(self) -> bool:
        """Whether it was answered on our own pages."""
        dropped = self.status == Status.EXCLUDED and self.reason in reasons.OURS
        return self.annotation_id is not None and not self.made_there and not dropped

    @property
    def kept_out(self) -> bool:
        """Whether somebody decided here that the answer counts no more."""
        return self.status == Status.EXCLUDED and self.reason not in reasons.OURS


@dataclass(slots=True)
class Verdict:
    """What becomes of a mirrored annotation; `state` of a candidate is decided among those of its task."""

    row: LabelStudioAnnotation
    version: Version  # the one that is judged: the one that counts, or the one that stands there
    state: str
    reason: str = ""
    annotator_id: int | None = None
    candidate: bool = False
    answer: Answer | None = None  # None of a candidate: the label as it is stored
    frozen: bool = False  # what happened to it after the campaign was closed changes nothing
    edit: str = ""  # what was decided about a version that its maker did not send


@dataclass(frozen=True)
class SettleContext:
    """What settling a batch of tasks depends on besides the mirror, read under the locks of the batch."""

    bridge: LabelStudioBridge
    campaign: Campaign
    projects: Mapping[int, LabelStudioProject]
    users: Mapping[int, LabelStudioUser]
    enrolments: Mapping[int, str]  # annotator → state
    consenting: frozenset[int]
    history: Mapping[int, Sequence[Version]]  # earlier versions of the rows where these can have a say
    questions: Mapping[int, Question]
    instruments: Sequence[tuple[int, datetime]]  # the versions of what annotators read, the newest first
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

    def read_by(self, verdict: Verdict) -> int | None:
        """Return the version that an answer's maker had read: what its project shows now, or what was current then.

        A version that was written after the answer was given cannot be it, however late the answer is seen.
        """
        instrument_id = self.projects[verdict.row.project_id].instrument_id
        newest = [pk for pk, _ in self.instruments]
        if instrument_id not in newest:
            return instrument_id
        upto = self.instruments[newest.index(instrument_id) :]
        return next((pk for pk, since in upto if since <= verdict.version.changed_at), upto[-1][0])

    def submission_id(self, verdict: Verdict, annotator_id: int, revision: int) -> uuid.UUID:
        """Return the name of what is made of a version: made again it is the same."""
        project = self.projects[verdict.row.project_id].external_id
        name = f"{project}:{annotator_id}:{revision}:{verdict.version.digest}"
        identifier = uuid.uuid5(self.bridge.public_id, name)
        return uuid.UUID(bytes=_mark(self.bridge) + identifier.bytes[_MARKED:])


def made_by(bridge: LabelStudioBridge, submission_id: uuid.UUID) -> bool:
    """Return whether an answer was made of what stands in Label Studio; an earlier bridge's are taken for our own."""
    return submission_id.bytes[:_MARKED] == _mark(bridge)


def _mark(bridge: LabelStudioBridge) -> bytes:
    return hashlib.sha256(b"answers of " + bridge.public_id.bytes).digest()[:_MARKED]


def judge(row: LabelStudioAnnotation, context: SettleContext, part_of: Mapping[int, Part]) -> Verdict:
    """Return what a row is taken for, before it is known what else was answered to its task."""
    chosen = counting(row, context.history.get(row.pk, ()), context.users.get(row.user_id or 0))
    current = Version.of(row)
    version = chosen.version or current
    user = context.users.get(version.user_id or row.user_id or 0)
    annotator = user.annotator_id if user is not None else None
    part = part_of.get(annotator or 0)
    late = context.closed_at is not None and _is_late(row, version, context.closed_at, part)
    edit = chosen.edit
    if (
        edit == Edit.OPEN
        and context.closed_at is not None
        and _is_after(current.changed_at, context.closed_at)
    ):
        edit = ""  # it changes nothing
    refusal = _kept_from(row, version, user, annotator)
    if refusal is None and chosen.version is None:
        refused = edit == Edit.KEPT
        refusal = (State.REFUSED, reasons.NOT_TAKEN) if refused else (State.FLAGGED, "")
    if refusal is None and annotator is not None:
        refusal = _kept_from_counting(row, annotator, context)
    if refusal is None and late:
        refusal = State.WAITING, reasons.CLOSED
    if refusal is not None:
        return Verdict(row, version, *refusal, annotator_id=annotator, frozen=late, edit=edit)
    assert annotator is not None
    verdict = Verdict(row, version, State.NEW, annotator_id=annotator, candidate=True, edit=edit)
    if reasons.why_no_result(version.result) == reasons.WITHDRAWN and part is not None and part.row == row.pk:
        return verdict
    try:
        verdict.answer = read_answer(version.result, context.questions[row.task_id or 0])
    except Unreadable as error:
        verdict.state, verdict.reason, verdict.candidate = State.REFUSED, str(error), False
    return verdict


def _is_late(row: LabelStudioAnnotation, version: Version, closed_at: datetime, part: Part | None) -> bool:
    """Whether what happened to a row after the campaign was closed changes nothing any more.

    What was answered in time and is first seen after it was changed again counts as it is then seen: it is all there
    is of it.
    """
    if row.deleted_at is not None:
        return row.deleted_at > closed_at
    first_seen = part is None or (part.row != row.pk and part.state != Assignment.State.SKIPPED)
    moment = row.made_at if first_seen and not version.cancelled else version.changed_at
    return _is_after(moment, closed_at)


def _is_after(moment: datetime, closed_at: datetime) -> bool:
    return moment > closed_at + CLOCKS_DIFFER


def _kept_from(
    row: LabelStudioAnnotation, version: Version, user: LabelStudioUser | None, annotator: int | None
) -> tuple[str, str] | None:
    if row.deleted_at is not None:
        return State.DELETED, ""
    if version.cancelled:
        return State.SKIPPED, ""
    if user is None:
        return State.REFUSED, reasons.NO_MAKER
    if annotator is None:
        ignored = user.state == LabelStudioUser.State.IGNORED
        return (State.LEFT_OUT if ignored else State.WAITING), ""
    return None


def _kept_from_counting(
    row: LabelStudioAnnotation, annotator: int, context: SettleContext
) -> tuple[str, str] | None:
    if context.projects[row.project_id].annotator_id not in (None, annotator):
        return State.REFUSED, reasons.NOT_THEIR_PROJECT
    return context.keeps(annotator)
