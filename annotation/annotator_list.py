"""Who works in a campaign, in the numbers a lead looks at."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Q

from annotation.models import (
    Annotation,
    Assignment,
    Campaign,
    Enrolment,
    QualityAction,
    QualityEvent,
    QualityMeasure,
)
from annotation.quality import Measured, Quality, qualities
from annotation.quality_words import for_lead

_SHARES = (
    QualityMeasure.GOLD_ACCURACY,
    QualityMeasure.AGREEMENT,
    QualityMeasure.SELF_CONSISTENCY,
    QualityMeasure.STRAIGHT_LINING,
)
_DID = {QualityAction.WARN: "warned", QualityAction.PAUSE: "paused"}

# Excluded ones too: they were answered. Checks are no answers a campaign asked for.
_TAKEN = (Annotation.Status.ACCEPTED, Annotation.Status.EXCLUDED)


@dataclass(frozen=True)
class AnnotatorLine:
    """One annotator's part in a campaign. Times are None where nothing was timed."""

    enrolment: Enrolment
    answered: int
    surplus: int
    skipped: int
    open_now: int
    last_active: datetime | None
    quality: Quality
    flags: list[str]  # the quality rules they miss now, in words

    @property
    def median_seconds(self) -> float | None:
        return self.quality[QualityMeasure.MEDIAN_SECONDS].value

    @property
    def shares(self) -> list[Measured]:
        """The measures that are shares, in the order of the page's columns."""
        return [self.quality[measure] for measure in _SHARES]


def annotator_lines(
    campaign: Campaign,
    enrolments: Iterable[Enrolment],
    *,
    measures: Collection[str] = (QualityMeasure.MEDIAN_SECONDS,),
) -> list[AnnotatorLine]:
    """Return the lines of these enrolments, with these measures; as many queries whatever their number."""
    enrolments = list(enrolments)
    people = [one.annotator_id for one in enrolments]
    latest = Annotation.objects.filter(campaign=campaign, annotator__in=people, is_latest=True)
    answered = {
        person: (accepted, surplus, last)
        for person, accepted, surplus, last in latest.order_by()
        .values("annotator")
        .annotate(
            accepted=Count("pk", filter=Q(status__in=_TAKEN)),
            surplus=Count("pk", filter=Q(status=Annotation.Status.SURPLUS)),
            last=Max("submitted_at"),
        )
        .values_list("annotator", "accepted", "surplus", "last")
    }
    measured = qualities(campaign, people, measures=measures)
    flags = _flags(enrolments)
    held = {
        person: (leased, skipped)
        for person, leased, skipped in Assignment.objects.filter(
            task__campaign=campaign, annotator__in=people
        )
        .order_by()
        .values("annotator")
        .annotate(
            leased=Count("pk", filter=Q(state=Assignment.State.LEASED)),
            skipped=Count("pk", filter=Q(state=Assignment.State.SKIPPED)),
        )
        .values_list("annotator", "leased", "skipped")
    }
    return [
        AnnotatorLine(
            enrolment=one,
            answered=answered.get(one.annotator_id, (0, 0, None))[0],
            surplus=answered.get(one.annotator_id, (0, 0, None))[1],
            skipped=held.get(one.annotator_id, (0, 0))[1],
            open_now=held.get(one.annotator_id, (0, 0))[0],
            last_active=answered.get(one.annotator_id, (0, 0, None))[2],
            quality=measured[one.annotator_id],
            flags=flags[one.pk],
        )
        for one in enrolments
    ]


def _flags(enrolments: list[Enrolment]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    standing = QualityEvent.objects.filter(enrolment__in=[one.pk for one in enrolments], ended_at=None)
    for event in standing.order_by("pk"):
        found[event.enrolment_id].append(f"{_DID[QualityAction(event.action)]}: {for_lead(event)}")
    return found
