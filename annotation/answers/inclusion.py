"""Which annotations count in results (metrics.md §0), and how many do not, by reason.

Each annotation that does not count has one reason: the first in the order of `Reason` that applies.
"""

from typing import Any

from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, TextChoices, Value, When
from django.db.models.fields import CharField

from accounts.models import Annotator
from annotation.kinds.registry import kind_of
from annotation.models import Annotation, Campaign, CopiedText, Enrolment, TaskStimulus
from studies.consent import withdrawn_from


class Reason(TextChoices):
    """Why an annotation does not count."""

    GOLD = "gold", "answer to a gold task"
    REPEAT = "repeat", "task answered again, for self-consistency"
    REVISED = "revised", "replaced by a later revision"
    SIMULATED = "simulated", "simulated, in a study of people"
    WITHDRAWN = "withdrawn", "consent withdrawn"
    ANNOTATOR_EXCLUDED = "annotator_excluded", "annotator excluded by the lead"
    EXCLUDED = "excluded", "annotation excluded by the lead"
    RETRACTED = "retracted", "image retracted, or text withdrawn"
    SURPLUS = "surplus", "more annotations than the task asked for"


# Reasons that the condition on status and revision already covers.
_BY_STATUS = {Reason.GOLD, Reason.REPEAT, Reason.REVISED, Reason.EXCLUDED, Reason.SURPLUS}


def counted(campaign: Campaign) -> QuerySet[Annotation]:
    """Return the annotations of `campaign` that count."""
    annotations = Annotation.objects.filter(
        campaign=campaign, is_latest=True, status=Annotation.Status.ACCEPTED
    )
    for reason, holds in _conditions(campaign).items():
        if reason not in _BY_STATUS:
            annotations = annotations.exclude(holds)
    return annotations


def not_counted(campaign: Campaign) -> dict[str, int]:
    """Return how many annotations of `campaign` do not count, for every reason (0 if there are none)."""
    rows = (
        reason_of(campaign).exclude(reason="").values_list("reason").annotate(number=Count("pk")).order_by()
    )
    return {reason.value: 0 for reason in Reason} | dict(rows)


def reason_of(campaign: Campaign) -> QuerySet[Any]:
    """Return all annotations of `campaign`, each with the `reason` why it does not count, "" if it counts."""
    whens = [When(holds, then=Value(reason.value)) for reason, holds in _conditions(campaign).items()]
    return Annotation.objects.filter(campaign=campaign).annotate(
        reason=Case(*whens, default=Value(""), output_field=CharField())
    )


def _conditions(campaign: Campaign) -> dict[Reason, Q | Exists]:
    study = campaign.study
    person = ~Q(annotator__origin=Annotator.Origin.IMPORTED)
    excluded = Enrolment.objects.filter(campaign=campaign, state=Enrolment.State.EXCLUDED)
    conditions: dict[Reason, Q | Exists] = {
        Reason.GOLD: Q(status=Annotation.Status.GOLD),
        Reason.REPEAT: Q(status=Annotation.Status.REPEAT),
        Reason.REVISED: Q(is_latest=False),
    }
    if not study.simulated:
        conditions[Reason.SIMULATED] = Q(annotator__origin=Annotator.Origin.SIMULATED)
    conditions |= {
        Reason.WITHDRAWN: person & Q(annotator__in=withdrawn_from(study).values("pk")),
        Reason.ANNOTATOR_EXCLUDED: Exists(excluded.filter(annotator=OuterRef("annotator"))),
        Reason.EXCLUDED: Q(status=Annotation.Status.EXCLUDED),
        Reason.RETRACTED: _retracted(campaign),
        Reason.SURPLUS: Q(status=Annotation.Status.SURPLUS),
    }
    return conditions


def _retracted(campaign: Campaign) -> Q | Exists:
    """Return whether the task shows a retracted image (perhaps among others) or a withdrawn text."""
    if kind_of(campaign).about_attributes:
        return Q(task__image__retracted_at__isnull=False)
    retracted = TaskStimulus.objects.filter(image__retracted_at__isnull=False)
    taken_back = CopiedText.objects.filter(writer=None, stimulus__task=OuterRef("task"))
    return Exists(retracted.filter(task=OuterRef("task"))) | Exists(taken_back)
