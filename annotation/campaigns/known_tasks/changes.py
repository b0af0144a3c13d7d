"""Making, changing and removing tasks with known answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from accounts.models import User
from annotation.answers.questions.known_answers import part_of
from annotation.assignment import leases
from annotation.campaigns.known_tasks import attribute_answers, question_answers
from annotation.campaigns.planning.plan import PlannedStimulus
from annotation.kinds.registry import kind_of
from annotation.models import Campaign, KnownAnswer, Task
from catalog.models import Attribute
from foundation.errors import Conflict, DomainError
from generation.models import Image
from studies import audit

PURPOSES = (Task.Purpose.GOLD, Task.Purpose.PRACTICE)


@dataclass(frozen=True)
class TaskContent:
    """The contents of a task: an image with attributes, an attribute alone, or stimuli with questions."""

    image: Image | None = None
    attributes: Sequence[Attribute] = ()
    stimuli: Sequence[PlannedStimulus] = ()


@transaction.atomic
def add(
    *,
    campaign: Campaign,
    purpose: str,
    by: User | None,
    content: TaskContent,
    answers: Mapping[Any, Any],
    explanations: Mapping[Any, str] | None = None,
) -> Task:
    """Create a task with known answers; parts without one are asked but not scored.

    `answers` and `explanations` are by attribute, or by `Part` if the campaign's kind declares questions.
    """
    campaign = _changeable(campaign)
    if purpose not in PURPOSES:
        raise DomainError("purpose_unknown", "Choose gold or practice.", fields={"purpose": "unknown"})
    if kind_of(campaign).about_attributes:
        task, known_answers = attribute_answers.make_task(
            campaign=campaign,
            purpose=purpose,
            image=content.image,
            attributes=content.attributes,
            answers=answers,
            explanations=explanations or {},
        )
    else:
        task, known_answers = question_answers.make_task(
            campaign=campaign,
            purpose=purpose,
            stimuli=content.stimuli,
            answers=answers,
            explanations=explanations or {},
        )
    _write(task, known_answers)
    _record(task, "added", by, known_answers)
    return task


@transaction.atomic
def change(
    *, task: Task, by: User | None, answers: Mapping[Any, Any], explanations: Mapping[Any, str] | None = None
) -> Task:
    """Replace the known answers. Earlier answers to gold tasks are scored again, practice rounds are not."""
    task = _locked(task)
    if kind_of(task.campaign).about_attributes:
        attributes = attribute_answers.attributes_of(task)
        known_answers = attribute_answers.known_answers(
            task.campaign, attributes, answers, explanations or {}
        )
    else:
        known_answers = question_answers.known_answers(task, answers, explanations or {})
    task.known_answers.all().delete()
    _write(task, known_answers)
    _record(task, "changed", by, known_answers)
    return task


@transaction.atomic
def remove(*, task: Task, by: User | None) -> None:
    """Remove the task. An answered task is kept with its answers, but without known answers."""
    task = _locked(task)
    known_answers = list(task.known_answers.select_related("attribute", "stimulus"))
    leases.release_tasks(tasks=Task.objects.filter(pk=task.pk))
    _record(task, "removed", by, known_answers)
    if task.assignments.exists() or task.practice_answers.exists():
        # Without known answers it stays removed even if a retracted image is restored.
        task.known_answers.all().delete()
        Task.objects.filter(pk=task.pk).update(withdrawn=True)
    else:
        task.delete()


def _changeable(campaign: Campaign) -> Campaign:
    """Return the campaign, locked, so that if two leads add the same task, one gets an error."""
    campaign = Campaign.locked(campaign.pk)
    if not kind_of(campaign).knowable:
        raise Conflict("known_answers_impossible", question_answers.NOTHING_KNOWABLE)
    if campaign.imported or campaign.state == Campaign.State.CLOSED:
        state = "imported from a file" if campaign.imported else "closed"
        raise Conflict("wrong_state", f"“{campaign.name}” is {state}: its checks and practice are fixed.")
    return campaign


def _locked(task: Task) -> Task:
    campaign = _changeable(task.campaign)
    known_task = Task.objects.filter(pk=task.pk, purpose__in=PURPOSES).exclude(known_answers=None).first()
    if known_task is None:
        raise Conflict("not_a_known_task", "The known answers of this task were removed.")
    known_task.campaign = campaign
    return known_task


def _write(task: Task, known_answers: Iterable[KnownAnswer]) -> None:
    for known_answer in known_answers:
        known_answer.task = task
    KnownAnswer.objects.bulk_create(known_answers)


def _record(task: Task, action: str, by: User | None, known_answers: Iterable[KnownAnswer]) -> None:
    right: dict[str, Any] = {_subject(known_answer): known_answer.right for known_answer in known_answers}
    audit.record(
        by=by,
        action=f"known_task.{action}",
        subject=task,
        study=task.campaign.study,
        campaign=task.campaign.name,
        purpose=task.purpose,
        image=str(task.image.public_id) if task.image is not None else None,
        answers=right,
    )


def _subject(known_answer: KnownAnswer) -> str:
    attribute = known_answer.attribute
    return part_of(known_answer).name if attribute is None else attribute.text
