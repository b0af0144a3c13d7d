"""Tasks whose right answers are known: gold tasks, mixed in unseen, and practice tasks, done before the rest.

What annotators answer to them never counts as a label. A task's attributes are fixed when it is made, since
every process remembers them; what is right for them can be changed.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction

from accounts.models import User
from annotation.assignment import leases
from annotation.campaigns.planning.associations import Associations
from annotation.campaigns.planning.sampling import shuffled
from annotation.models import Campaign, KnownAnswer, Task, TaskAttribute
from catalog.models import Attribute
from foundation.errors import Conflict, DomainError
from generation.models import Image
from studies import audit

PURPOSES = (Task.Purpose.GOLD, Task.Purpose.PRACTICE)
MAX_EXPLANATION = 500
_RATINGS = range(1, 6)
# Whether it is there (marking) or which ratings are right; None: it is asked, and not scored.
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
    """Make a task with known answers; `answers` may leave attributes out, which are then asked and not scored."""
    campaign = _changeable(campaign)
    if purpose not in PURPOSES:
        raise DomainError("purpose_unknown", "Choose gold or practice.", fields={"purpose": "unknown"})
    _check_content(campaign, image, attributes)
    known = _known(campaign, attributes, answers, explanations or {})
    _refuse_twin(campaign, purpose, image, attributes)
    group = image.group_id if image is not None else None
    offensive = Associations.of(campaign.study).is_offensive(
        group, [attribute.pk for attribute in attributes]
    )
    task = Task.objects.create(campaign=campaign, image=image, purpose=purpose, wanted=0, sensitive=offensive)
    texts = {attribute.pk: attribute.text for attribute in attributes}
    order = shuffled(texts, texts, campaign.seed, "known", image.sha256 if image is not None else "")
    TaskAttribute.objects.bulk_create(
        TaskAttribute(task=task, attribute_id=attribute, position=position)
        for position, attribute in enumerate(order)
    )
    _write(task, known)
    _record(task, "added", by, known)
    return task


@transaction.atomic
def change(
    *,
    task: Task,
    by: User | None,
    answers: Mapping[Attribute, Right],
    explanations: Mapping[Attribute, str] | None = None,
) -> Task:
    """Say anew what is right; what was answered before is measured by it from now on, practice rounds are not."""
    task = _own(task)
    asked = [one.attribute for one in task.task_attributes.select_related("attribute")]
    known = _known(task.campaign, asked, answers, explanations or {})
    task.known_answers.all().delete()
    _write(task, known)
    _record(task, "changed", by, known)
    return task


@transaction.atomic
def remove(*, task: Task, by: User | None) -> None:
    """Ask the task no more. Where somebody answered it, it stays with their answers, and measures nobody."""
    task = _own(task)
    known = list(task.known_answers.select_related("attribute"))
    leases.release_tasks(tasks=Task.objects.filter(pk=task.pk))
    _record(task, "removed", by, known)
    if task.assignments.exists() or task.practice_answers.exists():
        # Without known answers it is no check any more, not even when a retracted image is restored.
        task.known_answers.all().delete()
        Task.objects.filter(pk=task.pk).update(withdrawn=True)
    else:
        task.delete()


def _changeable(campaign: Campaign) -> Campaign:
    """Return the campaign, locked, so that of two leads who add the same task one is told so."""
    locked = Campaign.objects.select_for_update(of=("self",), no_key=True).select_related("study")
    campaign = locked.get(pk=campaign.pk)
    if campaign.imported or campaign.state == Campaign.State.CLOSED:
        state = "imported from a file" if campaign.imported else "closed"
        raise Conflict("wrong_state", f"“{campaign.name}” is {state}: its checks and practice are fixed.")
    return campaign


def _own(task: Task) -> Task:
    campaign = _changeable(task.campaign)
    found = Task.objects.filter(pk=task.pk, purpose__in=PURPOSES).exclude(known_answers=None).first()
    if found is None:
        raise Conflict("not_a_known_task", "This task has no known answers any more.")
    found.campaign = campaign
    return found


def _check_content(campaign: Campaign, image: Image | None, attributes: Sequence[Attribute]) -> None:
    wrong: dict[str, str] = {}
    marking = campaign.kind == Campaign.Kind.STEREOTYPE_MARKING
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
    elif unknown := sorted(one.text for one in attributes if one.pk not in listed):
        wrong["attributes"] = f"This study does not list {', '.join(unknown)}."
    _refuse(wrong)


def listed_attributes(campaign: Campaign) -> dict[int, str]:
    """Return the text of each attribute that may be asked: those the study lists, so that no check stands out."""
    return Associations.of(campaign.study).texts


def _known(
    campaign: Campaign,
    asked: Sequence[Attribute],
    answers: Mapping[Attribute, Right],
    explanations: Mapping[Attribute, str],
) -> list[KnownAnswer]:
    """Return unsaved known answers of the scored attributes, in the order asked."""
    marking = campaign.kind == Campaign.Kind.STEREOTYPE_MARKING
    wrong: dict[str, str] = {}
    known = []
    for attribute in {*answers, *explanations} - set(asked):
        wrong[f"answers.{attribute.pk}"] = f"“{attribute.text}” is not asked in this task."
    for attribute in asked:
        right, explanation = answers.get(attribute), " ".join(explanations.get(attribute, "").split())
        name = f"answers.{attribute.pk}"
        if len(explanation) > MAX_EXPLANATION:
            wrong[f"explanations.{attribute.pk}"] = f"Write at most {MAX_EXPLANATION} characters."
        if right is None:
            if explanation:
                wrong[f"explanations.{attribute.pk}"] = "Only an answer that is scored is explained."
        elif marking and type(right) is bool:
            known.append(KnownAnswer(attribute=attribute, present=right, explanation=explanation))
        elif not marking and (ratings := _ratings(right)):
            known.append(KnownAnswer(attribute=attribute, ratings=ratings, explanation=explanation))
        else:
            wrong[name] = "Say yes or no." if marking else "Choose one to four of the five answers as right."
    if not known and not wrong:
        wrong["answers"] = "Say for at least one attribute what is right."
    _refuse(wrong)
    return known


def _ratings(right: object) -> list[int]:
    """Return the right ratings in order; empty when there are none, all five, or something else stands there."""
    if not isinstance(right, list | tuple | set | frozenset):
        return []
    ratings = set(right)
    whole = all(type(one) is int and one in _RATINGS for one in ratings)
    return sorted(ratings) if whole and len(ratings) < len(_RATINGS) else []


def _refuse_twin(
    campaign: Campaign, purpose: str, image: Image | None, attributes: Iterable[Attribute]
) -> None:
    """Refuse the same task a second time: nobody gains by it, and a form sent twice makes one."""
    wanted = {attribute.pk for attribute in attributes}
    alike = campaign.tasks.filter(purpose=purpose, image=image, withdrawn=False)
    for task in alike.prefetch_related("task_attributes"):
        if {one.attribute_id for one in task.task_attributes.all()} == wanted:
            raise Conflict("known_already", "There is such a task already; change its answers instead.")


def _write(task: Task, known: Iterable[KnownAnswer]) -> None:
    for one in known:
        one.task = task
    KnownAnswer.objects.bulk_create(known)


def _record(task: Task, done: str, by: User | None, known: Iterable[KnownAnswer]) -> None:
    right: dict[str, Any] = {
        one.attribute.text: one.ratings if one.present is None else one.present for one in known
    }
    audit.record(
        by=by,
        action=f"known_task.{done}",
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
