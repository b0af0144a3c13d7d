"""The annotators of a campaign with the numbers that leads see."""

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
from annotation.quality.flags import Flag, checked_flags
from annotation.quality.measures import ALL, MeasureValue, Quality, nothing_measured, qualities

_SHARES = (
    QualityMeasure.GOLD_ACCURACY,
    QualityMeasure.AGREEMENT,
    QualityMeasure.SELF_CONSISTENCY,
    QualityMeasure.STRAIGHT_LINING,
    QualityMeasure.VARIETY,
)
_NUMBERS = ("answered", "surplus", "skipped", "open_now")

# Excluded answers count as answered, gold tasks and repeats do not.
_TAKEN = (Annotation.Status.ACCEPTED, Annotation.Status.EXCLUDED)
_NO_ANSWERS: Mapping[str, Any] = {"answered": 0, "surplus": 0, "last_active": None}
_NO_ASSIGNMENTS: Mapping[str, Any] = {"open_now": 0, "skipped": 0}


@dataclass(frozen=True)
class AnnotatorLine:
    """One annotator's part in a campaign. Times are None if nothing was timed."""

    enrolment: Enrolment
    answered: int
    surplus: int
    skipped: int
    open_now: int
    last_active: datetime | None
    quality: Quality
    flags: list[str]  # the quality rules they miss now, in words

    def as_json(self) -> dict[str, Any]:
        """Return the numbers as `AnnotatorLine.of` reads them, without state, and the flags."""
        return {
            **{name: getattr(self, name) for name in _NUMBERS},
            "last_active": self.last_active and self.last_active.isoformat(),
            "quality": {measure: asdict(measured) for measure, measured in self.quality.items()},
            "flags": self.flags,
        }

    @classmethod
    def of(cls, enrolment: Enrolment, counts: Mapping[str, Any] | None, flags: list[str]) -> Self:
        """Return the line of an enrolment with precomputed numbers; 0 if there are none."""
        if counts is None:
            nothing = dict.fromkeys(_NUMBERS, 0)
            return cls(enrolment, **nothing, last_active=None, quality=nothing_measured(), flags=flags)
        return cls(
            enrolment=enrolment,
            **{name: counts[name] for name in _NUMBERS},
            last_active=datetime.fromisoformat(counts["last_active"]) if counts["last_active"] else None,
            quality={measure: MeasureValue(**values) for measure, values in counts["quality"].items()},
            flags=flags,
        )

    @property
    def median_seconds(self) -> float | None:
        return self.quality[QualityMeasure.MEDIAN_SECONDS].value

    @property
    def shares(self) -> list[MeasureValue]:
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
    """Return the lines of a page, when they were counted (None: now), and whether a first count is running.

    In a small campaign only these annotators are measured; in a large one all are counted together.
    """
    enrolments = list(enrolments)
    if not snapshots.is_large(campaign):
        enforcement.check(
            campaign=campaign, annotators=[enrolment.annotator_id for enrolment in enrolments], warn_only=True
        )
        return annotator_lines(campaign, enrolments, measures=ALL), None, False
    counted = snapshots.read(campaign, "annotators")
    lines = lines_of(campaign, enrolments, counted.value or {})
    return lines, counted.counted_at, counted.pending


def lines_of(
    campaign: Campaign, enrolments: Iterable[Enrolment], counts: Mapping[str, Any]
) -> list[AnnotatorLine]:
    """Return the lines of these enrolments with precomputed numbers; one query for the flags.

    Flags of an imported campaign were counted with the numbers, for they follow from them.
    """
    enrolments = list(enrolments)
    flags = {} if campaign.imported else checked_flags(campaign, enrolments)
    lines = []
    for enrolment in enrolments:
        numbers = counts.get(str(enrolment.pk))
        words = numbers["flags"] if campaign.imported and numbers else _words(flags, enrolment.annotator_id)
        lines.append(AnnotatorLine.of(enrolment, numbers, words))
    return lines


def annotator_lines(
    campaign: Campaign,
    enrolments: Iterable[Enrolment],
    *,
    measures: Collection[str] = (QualityMeasure.MEDIAN_SECONDS,),
) -> list[AnnotatorLine]:
    """Return the lines of these enrolments with these measures, in a fixed number of queries."""
    enrolments = list(enrolments)
    people = [enrolment.annotator_id for enrolment in enrolments]
    answers = _answer_counts(campaign, people)
    assignments = _assignment_counts(campaign, people)
    measured = qualities(campaign, people, measures=measures)
    flags = checked_flags(campaign, enrolments)
    return [
        AnnotatorLine(
            enrolment=enrolment,
            **answers.get(enrolment.annotator_id, _NO_ANSWERS),
            **assignments.get(enrolment.annotator_id, _NO_ASSIGNMENTS),
            quality=measured[enrolment.annotator_id],
            flags=_words(flags, enrolment.annotator_id),
        )
        for enrolment in enrolments
    ]


def _answer_counts(campaign: Campaign, people: Collection[int]) -> dict[int, dict[str, Any]]:
    latest = Annotation.objects.filter(campaign=campaign, annotator__in=people, is_latest=True)
    rows = (
        latest.order_by()
        .values("annotator")
        .annotate(
            answered=Count("pk", filter=Q(status__in=_TAKEN)),
            surplus=Count("pk", filter=Q(status=Annotation.Status.SURPLUS)),
            last_active=Max("submitted_at"),
        )
    )
    return {
        row["annotator"]: {
            "answered": row["answered"],
            "surplus": row["surplus"],
            "last_active": row["last_active"],
        }
        for row in rows
    }


def _assignment_counts(campaign: Campaign, people: Collection[int]) -> dict[int, dict[str, Any]]:
    rows = (
        Assignment.objects.filter(task__campaign=campaign, annotator__in=people)
        .order_by()
        .values("annotator")
        .annotate(
            open_now=Count("pk", filter=Q(state=Assignment.State.LEASED)),
            skipped=Count("pk", filter=Q(state=Assignment.State.SKIPPED)),
        )
    )
    return {row["annotator"]: {"open_now": row["open_now"], "skipped": row["skipped"]} for row in rows}


def _words(flags: Mapping[int, list[Flag]], annotator_id: int) -> list[str]:
    return [flag.words for flag in flags.get(annotator_id, [])]
