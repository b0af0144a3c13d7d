"""The attributes that a rating campaign found to be visual."""

from django.db.models import Count, F, Q

from annotation.answers.inclusion import counted
from annotation.models import Campaign, Judgement, Task, TaskAttribute

_AGREES = 4  # Agree and Strongly Agree


def visual_attributes(campaign: Campaign, *, rule: str = "unanimous") -> tuple[set[int], int]:
    """Return the attributes that were found visual, and how many of the campaign's have no rating yet.

    Found visual: rated 4 or 5 by every annotator ('unanimous') or by more than half of them ('majority').
    """
    rated = (
        Judgement.objects.filter(annotation__in=counted(campaign), rating__isnull=False)
        .values("attribute")
        .annotate(ratings=Count("pk"), agreeing=Count("pk", filter=Q(rating__gte=_AGREES)))
    )
    enough = Q(agreeing=F("ratings")) if rule == "unanimous" else Q(agreeing__gt=F("ratings") / 2.0)
    task_attributes = TaskAttribute.objects.filter(task__campaign=campaign, task__purpose=Task.Purpose.LABEL)
    unrated = task_attributes.values("attribute").distinct().count() - rated.count()
    return set(rated.filter(enough).values_list("attribute", flat=True)), unrated
