"""Tasks with known answers: gold tasks, mixed in unmarked, and practice tasks, done before the others.

Answers to them never count as labels. A task's attributes are fixed when it is made, since every process caches
them; the known answers can be changed.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction

from accounts.models import User
from annotation.assignment import leases
from annotation.campaigns.planning.associations import AssociationSets
from annotation.campaigns.planning.shuffle import shuffled
from annotation.kinds.options import NO_KNOWN_ANSWERS
from annotation.kinds.registry import kind_of
from annotation.models import Campaign, KnownAnswer, Task, TaskAttribute
from catalog.models import Attribute
from foundation.errors import Conflict, DomainError
from generation.models import Image
from studies import audit

PURPOSES = (Task.Purpose.GOLD, Task.Purpose.PRACTICE)
MAX_EXPLANATION = 500
_RATINGS = range(1, 6)
# Whether the attribute is present (marking), or the right ratings; None: asked, but not scored.
Right = bool | Sequence[int] | None


@transaction.atomic
def add(
    *,
    campaign: Campaign,
    purpose: str,
    by: User | None,
    attributes: Sequence[Attribute],
    answers: Mapping[Attribute, Right],
    image: Image | None = None,
    explanations: Mapping[Attribute, str] | None = None,
) -> Task:
    """Create a task with known answers; attributes without an answer are asked and not scored."""
    campaign = _changeable(campaign)
    if purpose not in PURPOSES:
        raise DomainError("purpose_unknown", "Choose gold or practice.", fields={"purpose": "unknown"})
    _check_content(campaign, image, attributes)
    known_answers = _known(campaign, attributes, answers, explanations or {})
    _refuse_duplicate(campaign, purpose, image, attributes)
    group = image.group_id if image is not None else None
    offensive = AssociationSets.of(campaign.study).is_offensive(
        group, [attribute.pk for attribute in attributes]
    )
    task = Task.objects.create(campaign=campaign, image=image, purpose=purpose, wanted=0, sensitive=offensive)
    texts = {attribute.pk: attribute.text for attribute in attributes}
    order = shuffled(texts, texts, campaign.seed, "known", image.sha256 if image is not None else "")
    TaskAttribute.objects.bulk_create(
        TaskAttribute(task=task, attribute_id=attribute, position=position)
        for position, attribute in enumerate(order)
    )
    _write(task, known_answers)
    _record(task, "added", by, known_answers)
    return task


@transaction.atomic
def change(
    *,
    task: Task,
    by: User | None,
    answers: Mapping[Attribute, Right],
    explanations: Mapping[Attribute, str] | None = None,
) -> Task:
    """Replace the known answers. Earlier gold answers are measured by the new ones, practice rounds are not."""
    task = _locked(task)
    attributes = [
        task_attribute.attribute for task_attribute in task.task_attributes.select_related("attribute")
    ]
    known_answers = _known(task.campaign, attributes, answers, explanations or {})
    task.known_answers.all().delete()
    _write(task, known_answers)
    _record(task, "changed", by, known_answers)
    return task


@transaction.atomic
def remove(*, task: Task, by: User | None) -> None:
    """Remove the task. One that was answered stays with its answers, but without known answers."""
    task = _locked(task)
    known_answers = list(task.known_answers.select_related("attribute"))
    leases.release_tasks(tasks=Task.objects.filter(pk=task.pk))
    _record(task, "removed", by, known_answers)
    if task.assignments.exists() or task.practice_answers.exists():
        # Without known answers it stays removed even when a retracted image is restored.
        task.known_answers.all().delete()
        Task.objects.filter(pk=task.pk).update(withdrawn=True)
    else:
        task.delete()


def _changeable(campaign: Campaign) -> Campaign:
    """Return the campaign, locked, so that of two leads who add the same task one gets an error."""
    campaign = Campaign.locked(campaign.pk)
    if not kind_of(campaign).about_attributes:
        raise Conflict("known_answers_impossible", NO_KNOWN_ANSWERS)
    if campaign.imported or campaign.state == Campaign.State.CLOSED:
        state = "imported from a file" if campaign.imported else "closed"
        raise Conflict("wrong_state", f"“{campaign.name}” is {state}: its checks and practice are fixed.")
    return campaign


def _locked(task: Task) -> Task:
    campaign = _changeable(task.campaign)
    known_task = Task.objects.filter(pk=task.pk, purpose__in=PURPOSES).exclude(known_answers=None).first()
    if known_task is None:
        raise Conflict("not_a_known_task", "This task has no known answers any more.")
    known_task.campaign = campaign
    return known_task


def _check_content(campaign: Campaign, image: Image | None, attributes: Sequence[Attribute]) -> None:
    wrong: dict[str, str] = {}
    marking = kind_of(campaign).marks_attributes
    if not marking and image is not None:
        wrong["image"] = "A rating shows no image."
    elif marking and (image is None or image.study_id != campaign.study_id):
        wrong["image"] = "Choose an image of this study."
    elif image is not None and (image.retracted_at is not None or not image.file):
        wrong["image"] = "This image was retracted, or its file was never released."
    most = campaign.attributes_per_screen if marking else 1
    listed = listed_attributes(campaign)
    if not 1 <= len(attributes) <= most:
        wrong["attributes"] = f"Choose 1 to {most} attributes." if most > 1 else "Choose one attribute."
    elif len(set(attributes)) != len(attributes):
        wrong["attributes"] = "An attribute is chosen twice."
    elif unknown := sorted(attribute.text for attribute in attributes if attribute.pk not in listed):
        wrong["attributes"] = f"This study does not list {', '.join(unknown)}."
    _refuse(wrong)


def listed_attributes(campaign: Campaign) -> dict[int, str]:
    """Return the texts of the attributes the study lists, the only ones allowed, so that no check stands out."""
    return AssociationSets.of(campaign.study).texts


def _known(
    campaign: Campaign,
    attributes: Sequence[Attribute],
    answers: Mapping[Attribute, Right],
    explanations: Mapping[Attribute, str],
) -> list[KnownAnswer]:
    """Return unsaved known answers of the scored attributes, in the order asked."""
    marking = kind_of(campaign).marks_attributes
    wrong: dict[str, str] = {}
    known_answers = []
    for attribute in {*answers, *explanations} - set(attributes):
        wrong[f"answers.{attribute.pk}"] = f"“{attribute.text}” is not asked in this task."
    for attribute in attributes:
        right, explanation = answers.get(attribute), " ".join(explanations.get(attribute, "").split())
        name = f"answers.{attribute.pk}"
        if len(explanation) > MAX_EXPLANATION:
            wrong[f"explanations.{attribute.pk}"] = f"Write at most {MAX_EXPLANATION} characters."
        if right is None:
            if explanation:
                wrong[f"explanations.{attribute.pk}"] = "Only an answer that is scored is explained."
        elif marking and type(right) is bool:
            known_answers.append(KnownAnswer(attribute=attribute, present=right, explanation=explanation))
        elif not marking and (ratings := _ratings(right)):
            known_answers.append(KnownAnswer(attribute=attribute, ratings=ratings, explanation=explanation))
        else:
            wrong[name] = "Say yes or no." if marking else "Choose one to four of the five answers as right."
    if not known_answers and not wrong:
        wrong["answers"] = "Say for at least one attribute what is right."
    _refuse(wrong)
    return known_answers


def _ratings(right: object) -> list[int]:
    """Return the right ratings in order; empty when there are none, all five, or anything else."""
    if not isinstance(right, list | tuple | set | frozenset):
        return []
    ratings = set(right)
    whole = all(type(rating) is int and rating in _RATINGS for rating in ratings)
    return sorted(ratings) if whole and len(ratings) < len(_RATINGS) else []


def _refuse_duplicate(
    campaign: Campaign, purpose: str, image: Image | None, attributes: Iterable[Attribute]
) -> None:
    """Refuse a second task with the same content, such as a form sent twice."""
    attribute_ids = {attribute.pk for attribute in attributes}
    alike = campaign.tasks.filter(purpose=purpose, image=image, withdrawn=False)
    for task in alike.prefetch_related("task_attributes"):
        if {task_attribute.attribute_id for task_attribute in task.task_attributes.all()} == attribute_ids:
            raise Conflict("known_already", "There is such a task already; change its answers instead.")


def _write(task: Task, known_answers: Iterable[KnownAnswer]) -> None:
    for known_answer in known_answers:
        known_answer.task = task
    KnownAnswer.objects.bulk_create(known_answers)


def _record(task: Task, action: str, by: User | None, known_answers: Iterable[KnownAnswer]) -> None:
    right: dict[str, Any] = {
        known_answer.attribute.text: known_answer.right for known_answer in known_answers
    }
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


def _refuse(wrong: Mapping[str, str]) -> None:
    if wrong:
        raise DomainError("known_task_invalid", " ".join(dict.fromkeys(wrong.values())), fields=wrong)
