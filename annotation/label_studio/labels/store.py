"""Writing the decisions about a batch of tasks: assignments, answers, places and the mirror."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from annotation.answers.questions.values import JudgementValue
from annotation.answers.validation import Answer, AnswerBox, answer_of, stored_answer
from annotation.kinds.registry import kind_of
from annotation.label_studio.labels.allocation import Plan, Step
from annotation.label_studio.labels.verdicts import SettleContext, Verdict
from annotation.label_studio.models import LabelStudioAnnotation
from annotation.models import Annotation, Assignment, Box, Judgement, Point, Task
from foundation.database.bulk import allocate_keys, insert, new_uuids, update

_Given = tuple[Step, Verdict, Answer]  # the new state of an answer, its source, and its contents
_MOST_REVISIONS = 32_000
_LONGEST_TIME = timedelta(days=1)  # working time on one answer


def write(plans: Sequence[Plan], verdicts: Sequence[Verdict], context: SettleContext) -> int:
    """Store the decisions in `plans` and `verdicts` that are not stored yet; return the number of new answers."""
    steps = [step for plan in plans for step in plan.steps]
    writing = _writing(steps, context)
    _move(steps, context.now)
    assignments = _begin([step for step in steps if step.part is None], context.now)
    annotations = _answer(writing, assignments, context)
    written = {(step.task_id, step.annotator_id) for step in writing}
    _set_status([step for step in steps if (step.task_id, step.annotator_id) not in written])
    _set_places(plans)
    _set_rows(verdicts, annotations)
    return len(writing)


def moment_of(step: Step, now: datetime) -> datetime:
    """Return the time of the answer by Label Studio's clock, but not later than now if that clock is ahead."""
    return now if step.verdict is None else min(step.verdict.version.changed_at, now)


def _writing(steps: Iterable[Step], context: SettleContext) -> list[Step]:
    """Return the steps whose answer is not yet the latest stored answer."""
    steps_to_write, compared = [], []
    for step in steps:
        if step.verdict is None or step.verdict.answer is None:
            continue
        part, row = step.part, step.verdict.row
        if part is None or part.annotation_id is None or part.row != row.pk:
            steps_to_write.append(step)
        elif part.submission_id != context.submission_id(step.verdict, step.annotator_id, part.revision):
            compared.append(step)
    if compared:
        stored = _stored([step.part.annotation_id for step in compared if step.part is not None], context)
        steps_to_write += [
            step
            for step in compared
            if step.part and step.verdict and stored.get(step.part.annotation_id or 0) != step.verdict.answer
        ]
    # Nobody changes an answer by hand this often.
    return [step for step in steps_to_write if step.part is None or step.part.revision < _MOST_REVISIONS]


def _stored(pks: Iterable[int | None], context: SettleContext) -> dict[int, Answer]:
    """Return the answers of these annotations, like `annotation.answers.validation.answer_of` for one."""
    annotations = Annotation.objects.select_related("task").in_bulk([pk for pk in pks if pk is not None])
    if not kind_of(context.campaign).about_attributes:
        for annotation in annotations.values():
            annotation.campaign = annotation.task.campaign = context.campaign
        return {pk: answer_of(annotation) for pk, annotation in annotations.items()}
    judged: dict[int, list[Judgement]] = defaultdict(list)
    for judgement in Judgement.objects.filter(annotation__in=annotations).order_by("pk"):
        judged[judgement.annotation_id].append(judgement)
    drawn: dict[int, list[AnswerBox]] = defaultdict(list)
    boxes = Box.objects.filter(judgement__annotation__in=annotations).order_by("pk")
    columns = ("judgement__annotation_id", "judgement__attribute_id", "x", "y", "width", "height")
    for annotation, *box in boxes.values_list(*columns):
        drawn[annotation].append(AnswerBox(*box))
    return {pk: stored_answer(row, judged[pk], drawn[pk]) for pk, row in annotations.items()}


def _move(steps: Iterable[Step], now: datetime) -> None:
    """Release the places of assignments, then take the places that were decided."""
    moved = [
        (step, step.part)
        for step in steps
        if step.part is not None and (step.part.state, step.part.slot) != (step.state, step.slot)
    ]
    letting_go = [part.assignment_id for _, part in moved if part.slot is not None]
    if letting_go:
        Assignment.objects.filter(pk__in=letting_go).update(state=Assignment.State.SURPLUS, slot=None)
    columns: dict[str, list[Any]] = {
        "state": [str(step.state) for step, _ in moved],
        "slot": [step.slot for step, _ in moved],
        "ended_at": [moment_of(step, now) for step, _ in moved],
    }
    update(Assignment, [part.assignment_id for _, part in moved], columns)


def _begin(steps: Sequence[Step], now: datetime) -> dict[tuple[int, int], int]:
    """Create missing assignments; return them by task and annotator."""
    keys = allocate_keys(Assignment, len(steps))
    if not steps:
        return {}
    ended = [moment_of(step, now) for step in steps]
    worked = [timedelta(seconds=seconds(step.verdict) or 0) for step in steps]
    insert(
        Assignment,
        {
            "id": keys,
            "public_id": new_uuids(len(steps)),
            "task_id": [step.task_id for step in steps],
            "annotator_id": [step.annotator_id for step in steps],
            "state": [str(step.state) for step in steps],
            "purpose": [Assignment.Purpose.LABEL.value] * len(steps),
            "slot": [step.slot for step in steps],
            "leased_at": [end - min(long, _LONGEST_TIME) for end, long in zip(ended, worked, strict=True)],
            "expires_at": ended,
            "ended_at": ended,
        },
    )
    return {(step.task_id, step.annotator_id): key for step, key in zip(steps, keys, strict=True)}


def seconds(verdict: Verdict | None) -> float | None:
    """Return the duration of an answer that Label Studio reports, if it is plausible."""
    if verdict is None or verdict.version.lead_time is None:
        return None
    return min(verdict.version.lead_time, _LONGEST_TIME.total_seconds())


def _answer(
    steps: Sequence[Step], assignments: dict[tuple[int, int], int], context: SettleContext
) -> dict[int, int]:
    """Write the answers; return the annotation made from each row of the mirror."""
    keys = allocate_keys(Annotation, len(steps))
    if not steps:
        return {}
    before = [step.part.annotation_id for step in steps if step.part and step.part.annotation_id]
    if before:
        Annotation.objects.filter(pk__in=before).update(is_latest=False)
    answered = [
        (step, step.verdict, step.verdict.answer) for step in steps if step.verdict and step.verdict.answer
    ]
    insert(Annotation, {"id": keys} | _columns(answered, assignments, context))
    answers = [(step.task_id, answer) for step, _, answer in answered]
    _judge(keys, answers, context)
    _judge_questions(keys, answers, context)
    return {verdict.row.pk: key for (_, verdict, _), key in zip(answered, keys, strict=True)}


def _columns(
    answered: Sequence[_Given], assignments: dict[tuple[int, int], int], context: SettleContext
) -> dict[str, list[Any]]:
    revisions = [(step.part.revision if step.part else 0) + 1 for step, _, _ in answered]
    return {
        "submission_id": [
            context.submission_id(verdict, step.annotator_id, revision)
            for (step, verdict, _), revision in zip(answered, revisions, strict=True)
        ],
        "campaign_id": [context.campaign.pk] * len(answered),
        "task_id": [step.task_id for step, _, _ in answered],
        "annotator_id": [step.annotator_id for step, _, _ in answered],
        "assignment_id": [
            step.part.assignment_id if step.part else assignments[step.task_id, step.annotator_id]
            for step, _, _ in answered
        ],
        "instrument_id": [context.read_by(verdict) for _, verdict, _ in answered],
        "revision": revisions,
        "is_latest": [True] * len(answered),
        "status": [str(step.status) for step, _, _ in answered],
        "status_reason": [step.reason for step, _, _ in answered],
        "none_of_the_above": [answer.none_of_the_above for _, _, answer in answered],
        "justification": [answer.justification for _, _, answer in answered],
        "active_seconds": [seconds(verdict) for _, verdict, _ in answered],
        "submitted_at": [moment_of(step, context.now) for step, _, _ in answered],
    }


def _judge(annotations: Sequence[int], answers: Sequence[tuple[int, Answer]], context: SettleContext) -> None:
    """Write a judgement for each attribute of the task, in the order shown, and the boxes in the order drawn."""
    judged = [
        (annotation, attribute, answer)
        for annotation, (task, answer) in zip(annotations, answers, strict=True)
        for attribute in context.questions[task].attributes.values()
    ]
    keys = allocate_keys(Judgement, len(judged))
    insert(
        Judgement,
        {
            "id": keys,
            "annotation_id": [annotation for annotation, _, _ in judged],
            "attribute_id": [attribute for _, attribute, _ in judged],
            "present": [
                None if answer.rating is not None else attribute in answer.ticked
                for _, attribute, answer in judged
            ],
            "rating": [answer.rating for _, _, answer in judged],
        },
    )
    by_place = {(values[0], values[1]): key for values, key in zip(judged, keys, strict=True)}
    drawn = [
        (by_place[annotation, box.attribute_id], box)
        for annotation, (_, answer) in zip(annotations, answers, strict=True)
        for box in answer.boxes
    ]
    if drawn:
        sides: dict[str, list[Any]] = {
            side: [getattr(box, side) for _, box in drawn] for side in ("x", "y", "width", "height")
        }
        sides |= {"judgement_id": [key for key, _ in drawn], "clipped": [False] * len(drawn)}
        insert(Box, sides)


def _judge_questions(
    annotations: Sequence[int], answers: Sequence[tuple[int, Answer]], context: SettleContext
) -> None:
    """Write the judgements of answers to declared questions, with the places drawn for each."""
    judged = [
        (annotation, task, judgement)
        for annotation, (task, answer) in zip(annotations, answers, strict=True)
        for judgement in (answer.questions.judgements if answer.questions else ())
    ]
    if not judged:
        return
    keys = allocate_keys(Judgement, len(judged))
    columns: dict[str, list[Any]] = {
        "id": keys,
        "annotation_id": [annotation for annotation, _, _ in judged],
        "stimulus_id": [_stimulus(context, task, judgement) for _, task, judgement in judged],
    }
    for name in ("question", "present", "rating", "code", "rank", "text"):
        columns[name] = [getattr(judgement, name) for _, _, judgement in judged]
    insert(Judgement, columns)
    drawn = [
        (key, place)
        for key, (_, _, judgement) in zip(keys, judged, strict=True)
        for place in judgement.places
    ]
    boxes = [(key, place) for key, place in drawn if place.width is not None]
    points = [(key, place) for key, place in drawn if place.width is None]
    for model, lines, sides in ((Box, boxes, ("x", "y", "width", "height")), (Point, points, ("x", "y"))):
        if lines:
            of_sides: dict[str, list[Any]] = {
                side: [getattr(place, side) for _, place in lines] for side in sides
            }
            clipped = {"clipped": [False] * len(lines)} if model is Box else {}
            insert(model, {"judgement_id": [key for key, _ in lines], **of_sides, **clipped})


def _stimulus(context: SettleContext, task: int, judgement: JudgementValue) -> int | None:
    screen = context.questions[task].screen
    return None if judgement.stimulus is None or screen is None else screen.stimuli[judgement.stimulus]


def _set_status(steps: Iterable[Step]) -> None:
    """Set the state of answers whose contents do not change."""
    changed: dict[tuple[str, str], list[int]] = defaultdict(list)
    for step in steps:
        part = step.part
        if part is None or part.annotation_id is None:
            continue
        if (part.status, part.reason) != (step.status, step.reason):
            changed[str(step.status), step.reason].append(part.annotation_id)
    for (status, reason), pks in changed.items():
        Annotation.objects.filter(pk__in=pks).update(status=status, status_reason=reason)


def _set_places(plans: Iterable[Plan]) -> None:
    changed = [plan for plan in plans if (plan.task.held, plan.task.quota_mix) != (plan.held, plan.mix)]
    columns: dict[str, list[Any]] = {
        "held": [plan.held for plan in changed],
        "quota_mix": [plan.mix for plan in changed],
    }
    update(Task, [plan.task.pk for plan in changed], columns)


def _set_rows(verdicts: Iterable[Verdict], annotations: dict[int, int]) -> None:
    changed = [
        verdict
        for verdict in verdicts
        if (verdict.row.state, verdict.row.reason, verdict.row.edit)
        != (verdict.state, verdict.reason, verdict.edit)
        or verdict.row.pk in annotations
    ]
    columns: dict[str, list[Any]] = {
        "state": [str(verdict.state) for verdict in changed],
        "reason": [verdict.reason for verdict in changed],
        "edit": [verdict.edit for verdict in changed],
        "annotation_id": [annotations.get(verdict.row.pk, verdict.row.annotation_id) for verdict in changed],
    }
    update(LabelStudioAnnotation, [verdict.row.pk for verdict in changed], columns)
