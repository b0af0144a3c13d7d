"""The verdict on one mirrored annotation: whether it may become a label, its annotator, and its answer."""

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
# The first bytes of a `submission_id` identify its bridge, because rows of the mirror may later contain other answers.
_MARKED = 6
# Label Studio's clock and ours may differ about the time when a campaign was closed.
CLOCKS_DIFFER = timedelta(minutes=5)


@dataclass(slots=True)
class Part:
    """An annotator's assignment of a task, and the latest answer to it if there is one."""

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
    row: int | None = None  # the row of the mirror from which the answer was made
    made_there: bool = False  # made by this bridge, even if the row now contains somebody else's answer

    @property
    def from_our_pages(self) -> bool:
        """Whether the answer comes from our own pages."""
        dropped = self.status == Status.EXCLUDED and self.reason in reasons.OURS
        return self.annotation_id is not None and not self.made_there and not dropped

    @property
    def kept_out(self) -> bool:
        """Whether somebody decided here that the answer no longer counts."""
        return self.status == Status.EXCLUDED and self.reason not in reasons.OURS


@dataclass(slots=True)
class Verdict:
    """The decision about a mirrored annotation; the `state` of a candidate depends on the other candidates of its
    task."""

    row: LabelStudioAnnotation
    version: Version  # the version that is judged: the version that counts, or the current version
    state: str
    reason: str = ""
    annotator_id: int | None = None
    candidate: bool = False
    answer: Answer | None = None  # None for a candidate: the stored label
    frozen: bool = False  # changes after the campaign was closed have no effect
    edit: str = ""  # the decision about a version that the author did not send


@dataclass(frozen=True)
class SettleContext:
    """The inputs of settling a batch of tasks besides the mirror, read under the locks of the batch."""

    bridge: LabelStudioBridge
    campaign: Campaign
    projects: Mapping[int, LabelStudioProject]
    users: Mapping[int, LabelStudioUser]
    enrolments: Mapping[int, str]  # annotator → state
    consenting: frozenset[int]
    history: Mapping[int, Sequence[Version]]  # earlier versions of the rows for which they matter
    questions: Mapping[int, Question]
    instruments: Sequence[tuple[int, datetime]]  # the versions of what annotators read, newest first
    now: datetime

    @property
    def closed_at(self) -> datetime | None:
        return self.campaign.closed_at if self.campaign.state == Campaign.State.CLOSED else None

    def keeps(self, annotator_id: int) -> tuple[str, str] | None:
        """Return why an annotator's answers cannot be labels now, as state and reason; None if they can."""
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
        """Return the version of the guidelines that an answer's author had read: the one in the project, or the one
        current at that time.

        A version written after the answer is never returned, even if the answer is read late.
        """
        instrument_id = self.projects[verdict.row.project_id].instrument_id
        newest = [pk for pk, _ in self.instruments]
        if instrument_id not in newest:
            return instrument_id
        upto = self.instruments[newest.index(instrument_id) :]
        return next((pk for pk, since in upto if since <= verdict.version.changed_at), upto[-1][0])

    def submission_id(self, verdict: Verdict, annotator_id: int, revision: int) -> uuid.UUID:
        """Return the id of the answer made from a version; it is always the same."""
        project = self.projects[verdict.row.project_id].external_id
        name = f"{project}:{annotator_id}:{revision}:{verdict.version.digest}"
        identifier = uuid.uuid5(self.bridge.public_id, name)
        return uuid.UUID(bytes=_mark(self.bridge) + identifier.bytes[_MARKED:])


def made_by(bridge: LabelStudioBridge, submission_id: uuid.UUID) -> bool:
    """Return whether an answer was made from an answer in Label Studio; answers of an earlier bridge count as our
    own."""
    return submission_id.bytes[:_MARKED] == _mark(bridge)


def _mark(bridge: LabelStudioBridge) -> bytes:
    return hashlib.sha256(b"answers of " + bridge.public_id.bytes).digest()[:_MARKED]


def judge(row: LabelStudioAnnotation, context: SettleContext, part_of: Mapping[int, Part]) -> Verdict:
    """Return the verdict on a row by itself, before other answers to its task are considered."""
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
        edit = ""  # it has no effect
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
    """Whether a row changed only after the campaign was closed, so that the change has no effect.

    If an answer given in time is first read after a later change, the changed version counts, because no other version
    is known.
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
