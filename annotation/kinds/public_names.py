"""What annotators and their programs are told a task is: what is done, not what it is for."""

from django.db.models import TextChoices

from annotation.models import Campaign


class TaskKind(TextChoices):
    """The kind of a screen, in a word that gives nothing away."""

    RATING = "rating", "rate one attribute"
    MARKING = "marking", "mark attributes in an image"


_KINDS = {
    Campaign.Kind.ATTRIBUTE_LIKERT: TaskKind.RATING,
    Campaign.Kind.STEREOTYPE_MARKING: TaskKind.MARKING,
}


def task_kind(campaign: Campaign) -> str:
    """Return what annotators of the campaign are told its tasks are."""
    return _KINDS[Campaign.Kind(campaign.kind)].value
