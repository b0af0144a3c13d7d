"""Six measures of annotators' work, each with the number of screens it is based on.

One set of aggregate queries serves one annotator, one page of them, or all. Undefined is None with a reason.
Only annotations that count (`annotation.answers.inclusion`) are measured; gold tasks and repeats are read by
`annotation.assignment.gold_and_repeats`.

- gold accuracy: the share of the known answers on gold tasks that were given right;
- agreement: the mean over shared units (image and attribute, or attribute) of the share of the others' answers
  that equal theirs (metrics.md §4);
- self-consistency: the share of the answers on repeats that equal those given before;
- median seconds: the median active time per screen; the browser leaves out idle time;
- straight-lining: the share of the most frequent answer. A rating's answer is its value; a marking's is the set
  of ticked positions, where 'all' and 'none of the above' are one answer each whatever the length of the screen.
  So always ticking nothing, everything or the first word has the same effect;
- variety: how often they gave an answer about an attribute other than their most frequent one, divided by how
  often others' answers imply it: answers about the same unit or, where nobody else answered that, the campaign's
  latest answers. Somebody who rightly finds nothing in most pictures has a variety around 1; somebody who never
  looks has one near 0. Undefined if others' answers imply fewer than `OTHERS_DUE` such answers.

`analysis.metrics` has agreement, gold accuracy and self-consistency as pure functions of tables, for results.
Neither package may import the other, and a page of a running campaign cannot load every judgement. The tests check
that both give the same values on the same answers.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Exists, F, Max, OuterRef, QuerySet, Window
from django.db.models.functions import RowNumber

from annotation.answers.inclusion import counted
from annotation.answers.questions import check_answers
from annotation.assignment import gold_and_repeats
from annotation.kinds.registry import kind_of
from annotation.models import Annotation, Campaign, QualityEvent, QualityMeasure
from annotation.people.annotator_ids import ids_usable
from annotation.quality import statements
from annotation.quality.measured_answers import MeasuredAnswer, measured_answer
from studies.consent import withdrawn_from

Measure = QualityMeasure
ALL = tuple(Measure)
WITHDRAWN = "consent_withdrawn"
IDS_UNUSABLE = "annotator_ids_unusable"


@dataclass(frozen=True)
class MeasureValue:
    """One measure of one annotator; `rests_on` is the number of screens used."""

    value: float | None
    rests_on: int = 0
    reason: str = ""


Quality = Mapping[str, MeasureValue]

_NOTHING: Mapping[str, MeasureValue] = {
    Measure.GOLD_ACCURACY: MeasureValue(None, reason="no_gold_task_answered"),
    Measure.AGREEMENT: MeasureValue(None, reason="nobody_else_answered_the_same"),
    Measure.SELF_CONSISTENCY: MeasureValue(None, reason="no_repeat_answered"),
    Measure.MEDIAN_SECONDS: MeasureValue(None, reason="no_time_known"),
    Measure.STRAIGHT_LINING: MeasureValue(None, reason="no_answer_counts"),
    Measure.VARIETY: MeasureValue(None, reason="too_few_other_answers_due"),
}
OTHERS_DUE = 20.0
_KEYS_AT_ONCE = 6_000
_LATEST = 1000  # number of the campaign's answers that determine what is usual in it


def qualities(
    campaign: Campaign,
    annotators: Collection[int] | None = None,
    *,
    measures: Collection[str] = ALL,
    fresh: bool = False,
    latest: int | None = None,
) -> dict[int, Quality]:
    """Return the measures of these annotators, or of all who take part; at most fifteen queries.

    `fresh` leaves out answers from before the lead last resumed an annotator whom a rule had paused or warned.
    `latest`: only this many newest answers of each annotator, gold tasks and repeats apart.
    """
    annotator_ids = (
        campaign.enrolments.values_list("annotator", flat=True) if annotators is None else annotators
    )
    measured: dict[int, dict[str, MeasureValue]] = {
        person: {measure: _NOTHING[Measure(measure)] for measure in measures} for person in annotator_ids
    }
    if not measured:
        return {}
    if not ids_usable(campaign):
        return {person: _none_of(measures, IDS_UNUSABLE) for person in measured}
    answers = _Answers(campaign, counted(campaign), annotators, fresh, latest)
    for measure in measures:
        for person, value, rests_on in _rows(Measure(measure), answers):
            if person in measured:
                measured[person][measure] = MeasureValue(float(value), int(rests_on))
    if not campaign.imported:
        withdrawn = withdrawn_from(campaign.study).filter(enrolments__campaign=campaign)
        for person in withdrawn.values_list("pk", flat=True):
            if person in measured:
                measured[person] = _none_of(measures, WITHDRAWN)
    return dict(measured)


def nothing_measured() -> Quality:
    """Return the measures of an annotator without answers."""
    return dict(_NOTHING)


def quality_of(campaign: Campaign, annotator_id: int) -> Quality:
    """Return the measures of one annotator."""
    return qualities(campaign, [annotator_id])[annotator_id]


def _none_of(measures: Collection[str], reason: str) -> dict[str, MeasureValue]:
    return {measure: MeasureValue(None, reason=reason) for measure in measures}


class _Answers:
    """The answers of a campaign that count, and the answers of the annotators to be measured."""

    def __init__(
        self,
        campaign: Campaign,
        everybody: QuerySet[Annotation],
        people: Collection[int] | None,
        fresh: bool,
        latest: int | None,
    ) -> None:
        self.campaign, self.everybody, self.people, self.fresh = campaign, everybody, people, fresh
        self.few = False
        selected = everybody if people is None else everybody.filter(annotator__in=people)
        if fresh:
            selected = selected.exclude(_before_resumption())
        if latest is not None:
            place = Window(RowNumber(), partition_by="annotator", order_by=F("pk").desc())
            newest = selected.order_by().annotate(place=place).filter(place__lte=latest).values("pk")
            # For a few people as keys, which every query planner looks up one by one.
            self.few = people is not None and len(people) * latest <= _KEYS_AT_ONCE
            keys: Any = list(newest.values_list("pk", flat=True)) if self.few else newest
            # No key is 0: an empty queryset cannot be compiled into a subquery.
            selected = everybody.filter(pk__in=keys if keys != [] else [0])
        self.selected = selected

    def compared(self) -> "_Compared":
        """Return the query parts of a comparison with others."""
        # An imported file may show one image in several tasks; here each image's attributes are in one task each.
        by_image = self.campaign.imported and kind_of(self.campaign).marks_attributes
        unit = "task__image" if by_image else "task"
        among = self.everybody
        if self.people is not None:
            selected_units = self.selected.order_by().values_list(unit, flat=True)
            units = (list(selected_units) or [0]) if self.few else selected_units
            among = among.filter(**{f"{unit}__in": units})
        everybody, values = _compiled(among)
        selected, selected_values = self.selected.order_by().values("pk").query.sql_with_params()
        return _Compared(
            "t.image_id" if by_image else "t.id",
            everybody,
            f"q.id IN ({selected})",
            (*values, *selected_values),
        )


class _Compared(NamedTuple):
    """Query parts of a comparison with others: the unit, everybody's answers and the selected annotators."""

    unit: str
    everybody: str
    asked: str
    values: tuple[Any, ...]


def _rows(measure: Measure, answers: _Answers) -> Iterable[tuple[int, Any, Any]]:
    """Yield annotator, value and number of screens if the measure is defined."""
    campaign, people, fresh = answers.campaign, answers.people, answers.fresh
    if measure == Measure.GOLD_ACCURACY:
        return _shares(
            _gold(campaign, people), _forgotten(campaign, Annotation.Status.GOLD) if fresh else frozenset()
        )
    if measure == Measure.SELF_CONSISTENCY:
        return _shares(
            _repeats(campaign, people),
            _forgotten(campaign, Annotation.Status.REPEAT) if fresh else frozenset(),
        )
    selected, values = _compiled(answers.selected)
    if measure == Measure.MEDIAN_SECONDS:
        return _run(statements.MEDIAN.format(mine=selected), values)
    answer = measured_answer(campaign)
    if answer is None:
        return ()
    if measure == Measure.AGREEMENT:
        return _agreement(answers, answer)
    if measure == Measure.VARIETY:
        return _variety(answers, answer)
    if kind_of(campaign).marks_attributes:
        return _run(statements.STRAIGHT.format(answers=statements.PATTERNS.format(mine=selected)), values)
    single = statements.SINGLE.format(mine=selected, code=answer.code, join=answer.join)
    return _run(statements.STRAIGHT.format(answers=single), values)


def _gold(campaign: Campaign, people: Collection[int] | None) -> Iterator[tuple[int, int, bool]]:
    """Yield annotator, task and whether the answer was right, for each scored answer to a gold task."""
    if kind_of(campaign).about_attributes:
        for answer in gold_and_repeats.gold_answers(campaign, people):
            yield answer.annotator_id, answer.task_id, answer.correct
        return
    for checked in check_answers.gold_answers(campaign, people):
        yield checked.annotator_id, checked.task_id, checked.correct


def _repeats(campaign: Campaign, people: Collection[int] | None) -> Iterator[tuple[int, int, bool]]:
    """Yield annotator, task and whether the answer was the same, for each answer to a repeat."""
    if kind_of(campaign).about_attributes:
        for pair in gold_and_repeats.repeat_pairs(campaign, people):
            yield pair.annotator_id, pair.task_id, pair.first == pair.second
        return
    for checked in check_answers.repeated_answers(campaign, people):
        yield checked.annotator_id, checked.task_id, checked.correct


def _shares(
    answers: Iterable[tuple[int, int, bool]], forgotten: Collection[tuple[int, int]]
) -> Iterator[tuple[int, float, int]]:
    """Yield the share of true values and the number of screens, annotator by annotator."""
    right_counts: dict[int, int] = {}
    totals: dict[int, int] = {}
    screens: dict[int, set[int]] = {}
    for person, task, is_right in answers:
        if (person, task) in forgotten:
            continue
        right_counts[person] = right_counts.get(person, 0) + is_right
        totals[person] = totals.get(person, 0) + 1
        screens.setdefault(person, set()).add(task)
    for person, number in totals.items():
        yield person, right_counts[person] / number, len(screens[person])


def _agreement(answers: _Answers, answer: MeasuredAnswer) -> list[tuple[int, Any, Any]]:
    compared = answers.compared()
    query = statements.AGREEMENT.format(
        unit=compared.unit,
        code=answer.code,
        join=answer.join,
        everybody=compared.everybody,
        asked=compared.asked,
    )
    return _run(query, compared.values)


def _variety(answers: _Answers, answer: MeasuredAnswer) -> Iterator[tuple[int, float, int]]:
    compared = answers.compared()
    join, code, values = answer
    counts = (statements.DUE_COUNT.format(code=code, value=value, unit=compared.unit) for value in values)
    query = statements.DUE.format(
        unit=compared.unit,
        code=code,
        join=join,
        counts=", ".join(counts),
        sums=", ".join(statements.DUE_SUM.format(value=value) for value in values),
        everybody=compared.everybody,
        asked=compared.asked,
    )
    usual = _usual(answers.everybody, answer)
    for person, screens, alone, *sums in _run(query, compared.values):
        answer_counts = dict(zip(values, map(int, sums[::2]), strict=True))
        due_counts = dict(zip(values, map(float, sums[1::2]), strict=True))
        others_counts: Counter[int] = Counter()
        for (somebody, usual_answer), number in usual.items():
            if somebody != person:
                others_counts[usual_answer] += number
        if whole := others_counts.total():
            due_counts = {
                value: share + int(alone) * others_counts[value] / whole
                for value, share in due_counts.items()
            }
        if (share_varied := variety(answer_counts, due_counts)) is not None:
            yield person, share_varied, int(screens)


def variety(answer_counts: Mapping[int, int], due_counts: Mapping[int, float]) -> float | None:
    """Return the number of answers other than the most frequent one, divided by the number that was due.

    Both mappings are by answer. None if fewer than `OTHERS_DUE` were due.
    """
    most = max(answer_counts, key=answer_counts.__getitem__)
    others_due = sum(number for answer, number in due_counts.items() if answer != most)
    if others_due < OTHERS_DUE:
        return None
    return (sum(answer_counts.values()) - answer_counts[most]) / others_due


def _usual(everybody: QuerySet[Annotation], answer: MeasuredAnswer) -> dict[tuple[int, int], int]:
    """Return how often each annotator gave each answer among the campaign's latest."""
    latest = everybody.order_by("-pk").values("id", "annotator_id")[:_LATEST]
    query, values = latest.query.sql_with_params()
    rows = _run(statements.USUAL.format(code=answer.code, join=answer.join, latest=query), values)
    return {(person, int(value)): int(number) for person, value, number in rows}


def _compiled(annotations: QuerySet[Annotation]) -> tuple[str, tuple[Any, ...]]:
    """Return the annotations as a subquery."""
    columns = ("id", "annotator_id", "task_id", "active_seconds", "submitted_at")
    compiled: tuple[str, tuple[Any, ...]] = annotations.order_by().values(*columns).query.sql_with_params()
    return compiled


def _run(query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return list(cursor.fetchall())


def _resumptions() -> QuerySet[QualityEvent]:
    return QualityEvent.objects.filter(ending=QualityEvent.Ending.RESUMED)


def _before_resumption() -> Exists:
    return Exists(
        _resumptions().filter(
            enrolment__campaign=OuterRef("campaign"),
            enrolment__annotator=OuterRef("annotator"),
            ended_at__gte=OuterRef("submitted_at"),
        )
    )


def _forgotten(campaign: Campaign, status: str) -> set[tuple[int, int]]:
    """Return annotator and task of checks answered before the lead resumed the annotator: two queries."""
    since: dict[int, datetime] = dict(
        _resumptions()
        .filter(enrolment__campaign=campaign)
        .order_by()
        .values_list("enrolment__annotator")
        .annotate(last=Max("ended_at"))
    )
    if not since:
        return set()
    checks_answered = campaign.annotations.filter(status=status, is_latest=True, annotator__in=since)
    rows = checks_answered.values_list("annotator", "task", "submitted_at")
    return {(person, task) for person, task, moment in rows if moment <= since[person]}
