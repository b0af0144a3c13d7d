"""Who works in a campaign, in the numbers a lead looks at."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Self

from django.db.models import Count, Max, Q

from annotation.campaigns import snapshots
from annotation.models import (
    Annotation,
    Assignment,
    Campaign,
    Enrolment,
    QualityMeasure,
)
from annotation.quality import enforcement
from annotation.quality.flags import Flag, standing_flags
from annotation.quality.measures import ALL, Measured, Quality, nothing_measured, qualities

_SHARES = (
    QualityMeasure.GOLD_ACCURACY,
    QualityMeasure.AGREEMENT,
    QualityMeasure.SELF_CONSISTENCY,
    QualityMeasure.STRAIGHT_LINING,
    QualityMeasure.VARIETY,
)
_NUMBERS = ("answered", "surplus", "skipped", "open_now")

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

    def as_json(self) -> dict[str, Any]:
        """Return its numbers as `AnnotatorLine.of` reads them: neither state nor flags, which are read when shown."""
        return {
            **{name: getattr(self, name) for name in _NUMBERS},
            "last_active": self.last_active and self.last_active.isoformat(),
            "quality": {measure: asdict(found) for measure, found in self.quality.items()},
        }

    @classmethod
    def of(cls, enrolment: Enrolment, kept: Mapping[str, Any] | None, flags: list[str]) -> Self:
        """Return the line of an enrolment with numbers counted before, all 0 where it was not counted with them."""
        if kept is None:
            nothing = dict.fromkeys(_NUMBERS, 0)
            return cls(enrolment, **nothing, last_active=None, quality=nothing_measured(), flags=flags)
        return cls(
            enrolment=enrolment,
            **{name: kept[name] for name in _NUMBERS},
            last_active=datetime.fromisoformat(kept["last_active"]) if kept["last_active"] else None,
            quality={measure: Measured(**found) for measure, found in kept["quality"].items()},
            flags=flags,
        )

    @property
    def median_seconds(self) -> float | None:
        return self.quality[QualityMeasure.MEDIAN_SECONDS].value

    @property
    def shares(self) -> list[Measured]:
        """The measures that are shares, in the order of the page's columns."""
        return [self.quality[measure] for measure in _SHARES]


@snapshots.register("annotators")
def _count(campaign: Campaign, _: str) -> dict[str, Any]:
    enforcement.check(campaign=campaign, warn_only=True)
    enrolments = campaign.enrolments.select_related("annotator")
    return {
        str(line.enrolment.pk): line.as_json() for line in annotator_lines(campaign, enrolments, measures=ALL)
    }


def shown_lines(
    campaign: Campaign, enrolments: Iterable[Enrolment]
) -> tuple[list[AnnotatorLine], datetime | None, bool]:
    """Return the lines of a page, of when their numbers are (None: of now), and whether these are still counted.

    Of a small campaign only these annotators are measured; those of a large one are counted together.
    """
    enrolments = list(enrolments)
    if not snapshots.is_large(campaign):
        enforcement.check(
            campaign=campaign, annotators=[one.annotator_id for one in enrolments], warn_only=True
        )
        return annotator_lines(campaign, enrolments, measures=ALL), None, False
    counted = snapshots.read(campaign, "annotators")
    lines = lines_of(enrolments, counted.value or {})
    return lines, counted.counted_at, counted.pending


def lines_of(enrolments: Iterable[Enrolment], kept: Mapping[str, Any]) -> list[AnnotatorLine]:
    """Return the lines of these enrolments with numbers counted before; one query, for their flags."""
    enrolments = list(enrolments)
    flags = standing_flags(enrolments)
    return [
        AnnotatorLine.of(one, kept.get(str(one.pk)), _words(flags, one.annotator_id)) for one in enrolments
    ]


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
    flags = standing_flags(enrolments)
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
            flags=_words(flags, one.annotator_id),
        )
        for one in enrolments
    ]


def _words(flags: Mapping[int, list[Flag]], annotator_id: int) -> list[str]:
    return [flag.words for flag in flags.get(annotator_id, [])]
