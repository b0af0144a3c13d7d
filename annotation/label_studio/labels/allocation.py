"""Which of the people who answered a task get its places. The order of reading does not matter.

Some places are fixed: those of answers given on our own pages, those a lead left with an excluded answer, and those
that must not change now. The other answers come in the order of Label Studio's clock, and each takes a
place if one is left and the campaign's quotas can still be met.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from annotation.assignment import slots
from annotation.assignment.campaign_quotas import CampaignQuotas
from annotation.assignment.quotas import Profile, closed_mix
from annotation.label_studio.base import reasons
from annotation.label_studio.labels.verdicts import Part, SettleContext, Verdict
from annotation.label_studio.models import LabelStudioAnnotation
from annotation.models import Annotation, Assignment, Task

State = LabelStudioAnnotation.State
Status = Annotation.Status
Ended = Assignment.State
_STANDS_AS = {Status.ACCEPTED: State.COUNTED, Status.SURPLUS: State.SURPLUS, Status.EXCLUDED: State.EXCLUDED}
# An assignment that ended in this way, or is still open, has no answer that a skip could contradict.
_OPEN = (Ended.LEASED, Ended.EXPIRED)


@dataclass(slots=True)
class Step:
    """The new state of an annotator's assignment of a task; with a verdict, its row becomes the latest answer."""

    task_id: int
    annotator_id: int
    part: Part | None
    state: str
    slot: int | None
    status: str = ""
    reason: str = ""
    verdict: Verdict | None = None


@dataclass(frozen=True)
class Places:
    """The places of one task."""

    task: Task
    quotas: CampaignQuotas | None
    profiles: Mapping[int, Profile]

    def mix(self, annotators: Sequence[int]) -> str | None:
        """Return the task's mix with these annotators; None if its quotas could no longer be met."""
        if self.quotas is None:
            return ""
        return slots.mix_of(
            self.quotas, self.task, [self.profiles[annotator_id] for annotator_id in annotators]
        )


@dataclass
class Plan:
    """The new state of a task."""

    task: Task
    held: int = 0
    mix: str = ""
    steps: list[Step] = field(default_factory=list)


def allocate(
    places: Places, parts: Mapping[int, Part], verdicts: Sequence[Verdict], context: SettleContext
) -> Plan:
    """Decide about one task; writes only each verdict's state."""
    plan = Plan(places.task)
    firsts = _firsts(verdicts)
    contenders = []
    for annotator, first_verdict in firsts.items():
        part = parts.get(annotator)
        if part is not None and part.from_our_pages:
            first_verdict.state, first_verdict.reason = State.FURTHER, reasons.ANSWERED_HERE
        elif part is not None and part.kept_out:
            first_verdict.state, first_verdict.reason = State.EXCLUDED, part.reason
            step = Step(
                places.task.pk,
                annotator,
                part,
                part.state,
                part.slot,
                part.status,
                part.reason,
                first_verdict,
            )
            plan.steps.append(step)
        else:
            contenders.append(first_verdict)
    dropped = _dropped(
        places.task, parts, verdicts, {contender.annotator_id for contender in contenders}, context
    )
    plan.steps += dropped
    moving = {step.annotator_id for step in dropped} | {contender.annotator_id for contender in contenders}
    fixed = [part for part in parts.values() if part.slot is not None and part.annotator_id not in moving]
    plan.steps += _take_places(plan, places, fixed, contenders, parts)
    _keep(verdicts, parts, moving, context)
    return plan


def order(verdict: Verdict) -> tuple[datetime, int]:
    """Return the sort key that decides who comes first."""
    return verdict.row.made_at, verdict.row.external_id


def _firsts(verdicts: Iterable[Verdict]) -> dict[int, Verdict]:
    """Return each annotator's first answer; their other answers are further ones."""
    first_verdicts: dict[int, Verdict] = {}
    for verdict in sorted((candidate for candidate in verdicts if candidate.candidate), key=order):
        assert verdict.annotator_id is not None
        if first_verdicts.setdefault(verdict.annotator_id, verdict) is not verdict:
            verdict.state = State.FURTHER
    return first_verdicts


def _take_places(
    plan: Plan,
    places: Places,
    fixed: Sequence[Part],
    contenders: Iterable[Verdict],
    parts: Mapping[int, Part],
) -> list[Step]:
    holders = [part.annotator_id for part in fixed]
    used = {part.slot for part in fixed}
    mix = places.mix(holders)
    steps = []
    for verdict in sorted(contenders, key=order):
        annotator = verdict.annotator_id or 0
        joined = places.mix([*holders, annotator]) if len(holders) < places.task.wanted else None
        slot = None
        if joined is not None:
            slot, mix = next(free_slot for free_slot in range(len(used) + 1) if free_slot not in used), joined
            used.add(slot)
            holders.append(annotator)
        verdict.state = State.SURPLUS if slot is None else State.COUNTED
        state, status = (
            (Ended.SURPLUS, Status.SURPLUS) if slot is None else (Ended.SUBMITTED, Status.ACCEPTED)
        )
        reason = reasons.SURPLUS if slot is None else ""
        steps.append(
            Step(places.task.pk, annotator, parts.get(annotator), state, slot, status, reason, verdict)
        )
    plan.held = len(holders)
    plan.mix = closed_mix(places.task.wanted) if mix is None else mix
    return steps


def _dropped(
    task: Task,
    parts: Mapping[int, Part],
    verdicts: Iterable[Verdict],
    contending: set[int | None],
    context: SettleContext,
) -> list[Step]:
    """Return the ends of labels that no longer have an answer in Label Studio, and of skipped tasks."""
    behind = {verdict.row.pk: verdict for verdict in verdicts}
    skipped = {
        verdict.annotator_id for verdict in verdicts if verdict.state == State.SKIPPED and not verdict.frozen
    }
    steps = []
    for annotator in sorted({*parts, *(verdict for verdict in skipped if verdict is not None)} - contending):
        part = parts.get(annotator)
        if context.keeps(annotator) is not None and not _deserted(part, behind):
            continue
        if part is None:
            steps.append(Step(task.pk, annotator, None, Ended.SKIPPED, None))
        elif part.annotation_id is None:
            if annotator in skipped and part.state in _OPEN:
                steps.append(Step(task.pk, annotator, part, Ended.SKIPPED, None))
        elif not part.from_our_pages and not part.kept_out:
            row = behind.get(part.row or 0)
            if row is not None and row.frozen:
                continue
            state = Ended.SKIPPED if annotator in skipped else Ended.SURPLUS
            why = _why(row, annotator) if row is not None else _still(part)
            steps.append(Step(task.pk, annotator, part, state, None, Status.EXCLUDED, why))
    return steps


def _deserted(part: Part | None, behind: Mapping[int, Verdict]) -> bool:
    """Whether the row of an answer now belongs to somebody else, whose answers may count."""
    if part is None or not part.made_there:
        return False
    row = behind.get(part.row or 0)
    return row is None or row.annotator_id != part.annotator_id


def _still(part: Part) -> str:
    return part.reason if part.reason in reasons.OURS else reasons.NOBODYS


def _why(row: Verdict, annotator: int) -> str:
    if row.annotator_id != annotator and row.state != State.DELETED:
        return reasons.NOBODYS
    return reasons.BECAUSE.get(row.state, reasons.NOBODYS)


def _keep(
    verdicts: Iterable[Verdict], parts: Mapping[int, Part], moving: set[int | None], context: SettleContext
) -> None:
    """Give rows whose labels are frozen the state of these labels, unless the rows have changed since."""
    parts_by_row = {part.row: part for part in parts.values() if part.row and part.annotator_id not in moving}
    for verdict in verdicts:
        part = parts_by_row.get(verdict.row.pk)
        waits = verdict.state in (State.WAITING, State.CONSENT) and not reasons.why_no_result(
            verdict.version.result
        )
        if part is None or not (waits or verdict.frozen):
            continue
        if context.submission_id(verdict, part.annotator_id, part.revision) == part.submission_id:
            verdict.state, verdict.reason = _STANDS_AS[Status(part.status)], part.reason


def by_task(parts: Iterable[Part]) -> dict[int, dict[int, Part]]:
    """Return the parts of each task by annotator."""
    parts_by_task: dict[int, dict[int, Part]] = defaultdict(dict)
    for part in parts:
        parts_by_task[part.task_id][part.annotator_id] = part
    return parts_by_task
