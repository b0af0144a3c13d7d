"""Known answers about attributes: marks in an image, or ratings of one attribute."""

from collections.abc import Iterable, Mapping, Sequence

from annotation.campaigns.known_tasks.refusals import explanation_of, refuse
from annotation.campaigns.planning.associations import AssociationSets
from annotation.campaigns.planning.shuffle import shuffled
from annotation.kinds.registry import kind_of
from annotation.models import Campaign, KnownAnswer, Task, TaskAttribute
from catalog.models import Attribute
from foundation.errors import Conflict
from generation.models import Image

_RATINGS = range(1, 6)
# Whether the attribute is present (marking), or the right ratings; None: asked, but not scored.
Right = bool | Sequence[int] | None


def make_task(
    *,
    campaign: Campaign,
    purpose: str,
    image: Image | None,
    attributes: Sequence[Attribute],
    answers: Mapping[Attribute, Right],
    explanations: Mapping[Attribute, str],
) -> tuple[Task, list[KnownAnswer]]:
    """Return a new task that asks about these attributes, and its known answers, not stored yet."""
    _check_content(campaign, image, attributes)
    answers_known = known_answers(campaign, attributes, answers, explanations)
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
    return task, answers_known


def attributes_of(task: Task) -> list[Attribute]:
    """Return the attributes of a task in the order asked."""
    return [row.attribute for row in task.task_attributes.select_related("attribute")]


def listed_attributes(campaign: Campaign) -> dict[int, str]:
    """Return the texts of the study's attributes; no others are allowed, so that checks are not recognisable."""
    return AssociationSets.of(campaign.study).texts


def known_answers(
    campaign: Campaign,
    attributes: Sequence[Attribute],
    answers: Mapping[Attribute, Right],
    explanations: Mapping[Attribute, str],
) -> list[KnownAnswer]:
    """Return unsaved known answers of the scored attributes, in the order of the task."""
    marking = kind_of(campaign).marks_attributes
    wrong: dict[str, str] = {}
    answers_known = []
    for attribute in {*answers, *explanations} - set(attributes):
        wrong[f"answers.{attribute.pk}"] = f"“{attribute.text}” is not asked in this task."
    for attribute in attributes:
        right, name = answers.get(attribute), f"answers.{attribute.pk}"
        explanation = explanation_of(
            explanations.get(attribute, ""), str(attribute.pk), wrong, scored=right is not None
        )
        if right is None:
            continue
        if marking and type(right) is bool:
            answers_known.append(KnownAnswer(attribute=attribute, present=right, explanation=explanation))
        elif not marking and (ratings := _ratings(right)):
            answers_known.append(KnownAnswer(attribute=attribute, ratings=ratings, explanation=explanation))
        else:
            wrong[name] = "Say yes or no." if marking else "Choose one to four of the five answers as right."
    if not answers_known and not wrong:
        wrong["answers"] = "Choose the right answer for at least one attribute."
    refuse(wrong)
    return answers_known


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
        wrong["attributes"] = f"This study has no attribute {' or '.join(unknown)}."
    refuse(wrong)


def _ratings(right: object) -> list[int]:
    """Return the right ratings in order; empty if there are none, all five, or an invalid one."""
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
            raise Conflict(
                "known_already",
                "There is already a task for this screen. Change the known answers of that task instead.",
            )
