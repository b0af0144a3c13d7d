"""How annotators work: six measures, each with the number of screens it rests on.

One set of aggregate queries serves one annotator, one page of them, or all. Undefined is None with a reason.
Only annotations that count (`annotation.answers.inclusion`) are measured; gold tasks and repeats are read by
`annotation.assignment.checks`.

- gold accuracy: the share of the known answers on gold tasks that were given right;
- agreement: the mean over shared units (image and attribute, or attribute) of the share of the others' answers
  that equal theirs (metrics.md §4);
- self-consistency: the share of the answers on repeats that equal those given before;
- median seconds: the median active time a screen, idle time left out by the browser;
- straight-lining: the share of the most frequent answer. A rating's is its value; a marking's is which places
  of the screen were ticked, where 'all of them' and 'none of the above' are one answer each whatever the length
  of the screen. So somebody who always ticks nothing, everything or the first word stands out alike;
- variety: how often they gave another answer about an attribute than their most frequent one, as a share of how
  often that was due by what others said: about the same unit, or where nobody else answered that, among the
  campaign's latest answers. Somebody who rightly finds nothing in most pictures has a variety around 1, somebody
  who never looks one near 0. Defined once `OTHERS_DUE` other answers were due.

`analysis.metrics` has agreement, gold accuracy and self-consistency as pure functions of tables, for results;
it may not import this package, nor this package it, and a page of a running campaign cannot load every
judgement. The tests hold the two equal on the same answers.
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
from annotation.assignment import checks
from annotation.models import Annotation, Campaign, QualityEvent, QualityMeasure
from annotation.people.annotator_ids import ids_usable
from studies.consent import withdrawn_from

Measure = QualityMeasure
ALL = tuple(Measure)
WITHDRAWN = "consent_withdrawn"
IDS_UNUSABLE = "annotator_ids_unusable"


@dataclass(frozen=True)
class Measured:
    """One measure of one annotator; `rests_on` is a number of screens."""

    value: float | None
    rests_on: int = 0
    reason: str = ""


Quality = Mapping[str, Measured]

_NOTHING: Mapping[str, Measured] = {
    Measure.GOLD_ACCURACY: Measured(None, reason="no_gold_task_answered"),
    Measure.AGREEMENT: Measured(None, reason="nobody_else_answered_the_same"),
    Measure.SELF_CONSISTENCY: Measured(None, reason="no_repeat_answered"),
    Measure.MEDIAN_SECONDS: Measured(None, reason="no_time_known"),
    Measure.STRAIGHT_LINING: Measured(None, reason="no_answer_counts"),
    Measure.VARIETY: Measured(None, reason="too_few_other_answers_due"),
}
OTHERS_DUE = 20.0
_KEYS_AT_ONCE = 6_000
_LATEST = 1000  # answers of the campaign that say what is usual in it

# Of each answer, how many there are of its unit and how many of these say the same, its own among them: one pass
# over the answers, whatever a planner expects of them.
_AGREEMENT = """
    SELECT q.annotator_id, AVG((q.same - 1.0) / (q.given - 1)), COUNT(DISTINCT q.id)
    FROM (SELECT o.id, o.annotator_id, o.submitted_at,
                 COUNT(*) OVER (PARTITION BY {unit}, j.attribute_id) AS given,
                 COUNT(*) OVER (PARTITION BY {unit}, j.attribute_id, j.{answer}) AS same
          FROM ({everybody}) o
          JOIN annotation_task t ON t.id = o.task_id
          JOIN annotation_judgement j ON j.annotation_id = o.id) q
    WHERE q.given > 1 AND {asked}
    GROUP BY q.annotator_id
"""
_MEDIAN = """
    SELECT q.annotator_id, AVG(q.seconds), MAX(q.number)
    FROM (SELECT m.annotator_id, m.active_seconds AS seconds,
                 ROW_NUMBER() OVER (PARTITION BY m.annotator_id ORDER BY m.active_seconds) AS place,
                 COUNT(*) OVER (PARTITION BY m.annotator_id) AS number
          FROM ({mine}) m WHERE m.active_seconds IS NOT NULL) q
    WHERE 2 * q.place BETWEEN q.number AND q.number + 2
    GROUP BY q.annotator_id
"""
_STRAIGHT = """
    SELECT g.annotator_id, 1.0 * MAX(g.number) / SUM(g.number), SUM(g.number)
    FROM (SELECT p.annotator_id, p.answer, COUNT(*) AS number FROM ({answers}) p
          GROUP BY p.annotator_id, p.answer) g
    GROUP BY g.annotator_id
"""
_RATINGS = """
    SELECT m.annotator_id, j.rating AS answer
    FROM ({mine}) m JOIN annotation_judgement j ON j.annotation_id = m.id
"""
# Bits of the ticked places; -1 where all are ticked.
_PATTERNS = """
    SELECT m.annotator_id, m.id,
           CASE WHEN COUNT(*) = SUM(CASE WHEN j.present THEN 1 ELSE 0 END) THEN -1
                ELSE SUM(CASE WHEN j.present THEN CAST(1 AS BIGINT) << a.position ELSE 0 END) END AS answer
    FROM ({mine}) m
    JOIN annotation_judgement j ON j.annotation_id = m.id
    JOIN annotation_taskattribute a ON a.task_id = m.task_id AND a.attribute_id = j.attribute_id
    GROUP BY m.annotator_id, m.id
"""
# For each annotator and answer: how often they gave it, how often it was due on units that others answered too, and
# on how many units they stand alone.
_DUE = """
    SELECT q.annotator_id, COUNT(DISTINCT q.id), SUM(CASE WHEN q.given = 1 THEN 1 ELSE 0 END), {sums}
    FROM (SELECT o.id, o.annotator_id, o.submitted_at, {code} AS code,
                 COUNT(*) OVER (PARTITION BY {unit}, j.attribute_id) AS given, {counts}
          FROM ({everybody}) o
          JOIN annotation_task t ON t.id = o.task_id
          JOIN annotation_judgement j ON j.annotation_id = o.id) q
    WHERE {asked}
    GROUP BY q.annotator_id
"""
_DUE_COUNT = (
    "SUM(CASE WHEN {code} = {value} THEN 1 ELSE 0 END) OVER (PARTITION BY {unit}, j.attribute_id) AS n{value}"
)
_DUE_SUM = """
    SUM(CASE WHEN q.code = {value} THEN 1 ELSE 0 END),
    SUM(CASE WHEN q.given > 1 THEN (q.n{value} - CASE WHEN q.code = {value} THEN 1.0 ELSE 0.0 END) / (q.given - 1)
        ELSE 0.0 END)
"""
_USUAL = """
    SELECT r.annotator_id, {code}, COUNT(*)
    FROM ({latest}) r JOIN annotation_judgement j ON j.annotation_id = r.id
    GROUP BY r.annotator_id, {code}
"""


def qualities(
    campaign: Campaign,
    annotators: Collection[int] | None = None,
    *,
    measures: Collection[str] = ALL,
    fresh: bool = False,
    latest: int | None = None,
) -> dict[int, Quality]:
    """Return the measures of these annotators, or of all who take part; at most eleven queries.

    With `fresh` nothing counts that was answered before the lead last let an annotator go on after a rule
    had paused or warned them. `latest`: only each annotator's newest so many answers, checks apart.
    """
    asked = campaign.enrolments.values_list("annotator", flat=True) if annotators is None else annotators
    found: dict[int, dict[str, Measured]] = {
        person: {measure: _NOTHING[Measure(measure)] for measure in measures} for person in asked
    }
    if not found:
        return {}
    if not ids_usable(campaign):
        return {person: _none_of(measures, IDS_UNUSABLE) for person in found}
    answers = _Answers(campaign, counted(campaign), annotators, fresh, latest)
    for measure in measures:
        for person, value, rests_on in _rows(Measure(measure), answers):
            if person in found:
                found[person][measure] = Measured(float(value), int(rests_on))
    if not campaign.imported:
        gone = withdrawn_from(campaign.study).filter(enrolments__campaign=campaign)
        for person in gone.values_list("pk", flat=True):
            if person in found:
                found[person] = _none_of(measures, WITHDRAWN)
    return dict(found)


def nothing_measured() -> Quality:
    """Return the measures of somebody who answered nothing."""
    return dict(_NOTHING)


def quality_of(campaign: Campaign, annotator_id: int) -> Quality:
    """Return the measures of one annotator."""
    return qualities(campaign, [annotator_id])[annotator_id]


def _none_of(measures: Collection[str], reason: str) -> dict[str, Measured]:
    return {measure: Measured(None, reason=reason) for measure in measures}


class _Answers:
    """The answers of a campaign that count, and those of the annotators whose measures are asked for."""

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
        mine = everybody if people is None else everybody.filter(annotator__in=people)
        if fresh:
            mine = mine.exclude(_before_going_on())
        if latest is not None:
            place = Window(RowNumber(), partition_by="annotator", order_by=F("pk").desc())
            newest = mine.order_by().annotate(place=place).filter(place__lte=latest).values("pk")
            # Of a few people as keys, which every planner looks up one by one.
            self.few = people is not None and len(people) * latest <= _KEYS_AT_ONCE
            keys: Any = list(newest.values_list("pk", flat=True)) if self.few else newest
            # No key is 0: a query of none could not stand in another.
            mine = everybody.filter(pk__in=keys if keys != [] else [0])
        self.mine = mine

    def compared(self) -> "_Compared":
        """Return what a comparison with others reads."""
        # A file may show one image in several tasks; what a campaign of ours asks of an image is in one task only.
        by_image = self.campaign.imported and not _rates(self.campaign)
        unit = "task__image" if by_image else "task"
        among = self.everybody
        if self.people is not None:
            theirs = self.mine.order_by().values_list(unit, flat=True)
            units = (list(theirs) or [0]) if self.few else theirs
            among = among.filter(**{f"{unit}__in": units})
        everybody, values = _compiled(among)
        mine, mine_values = self.mine.order_by().values("pk").query.sql_with_params()
        return _Compared(
            "t.image_id" if by_image else "t.id", everybody, f"q.id IN ({mine})", (*values, *mine_values)
        )


class _Compared(NamedTuple):
    """What the comparison with others reads: the units, everybody's answers, and whose numbers are asked for."""

    unit: str
    everybody: str
    asked: str
    values: tuple[Any, ...]


def _rows(measure: Measure, answers: _Answers) -> Iterable[tuple[int, Any, Any]]:
    """Yield annotator, value and number of screens of whoever the measure is defined for."""
    campaign, people, fresh = answers.campaign, answers.people, answers.fresh
    if measure == Measure.GOLD_ACCURACY:
        gold = ((one.annotator_id, one.task_id, one.correct) for one in checks.gold_answers(campaign, people))
        return _shares(gold, _forgotten(campaign, Annotation.Status.GOLD) if fresh else frozenset())
    if measure == Measure.SELF_CONSISTENCY:
        pairs = checks.repeat_pairs(campaign, people)
        same = ((one.annotator_id, one.task_id, one.first == one.second) for one in pairs)
        return _shares(same, _forgotten(campaign, Annotation.Status.REPEAT) if fresh else frozenset())
    if measure == Measure.AGREEMENT:
        return _agreement(answers)
    if measure == Measure.VARIETY:
        return _variety(answers)
    own, values = _compiled(answers.mine)
    if measure == Measure.MEDIAN_SECONDS:
        return _run(_MEDIAN.format(mine=own), values)
    given = (_RATINGS if _rates(campaign) else _PATTERNS).format(mine=own)
    return _run(_STRAIGHT.format(answers=given), values)


def _shares(
    answers: Iterable[tuple[int, int, bool]], forgotten: Collection[tuple[int, int]]
) -> Iterator[tuple[int, float, int]]:
    """Yield the share of true ones and the number of screens, annotator by annotator."""
    right: dict[int, int] = {}
    asked: dict[int, int] = {}
    screens: dict[int, set[int]] = {}
    for person, task, is_right in answers:
        if (person, task) in forgotten:
            continue
        right[person] = right.get(person, 0) + is_right
        asked[person] = asked.get(person, 0) + 1
        screens.setdefault(person, set()).add(task)
    for person, number in asked.items():
        yield person, right[person] / number, len(screens[person])


def _agreement(answers: _Answers) -> list[tuple[int, Any, Any]]:
    compared = answers.compared()
    query = _AGREEMENT.format(
        unit=compared.unit,
        answer="rating" if _rates(answers.campaign) else "present",
        everybody=compared.everybody,
        asked=compared.asked,
    )
    return _run(query, compared.values)


def _variety(answers: _Answers) -> Iterator[tuple[int, float, int]]:
    compared = answers.compared()
    code, values = (
        ("j.rating", (1, 2, 3, 4, 5))
        if _rates(answers.campaign)
        else ("(CASE WHEN j.present THEN 1 ELSE 0 END)", (0, 1))
    )
    counts = (_DUE_COUNT.format(code=code, value=value, unit=compared.unit) for value in values)
    query = _DUE.format(
        unit=compared.unit,
        code=code,
        counts=", ".join(counts),
        sums=", ".join(_DUE_SUM.format(value=value) for value in values),
        everybody=compared.everybody,
        asked=compared.asked,
    )
    usual = _usual(answers.everybody, code)
    for person, screens, alone, *sums in _run(query, compared.values):
        given = dict(zip(values, map(int, sums[::2]), strict=True))
        due = dict(zip(values, map(float, sums[1::2]), strict=True))
        others: Counter[int] = Counter()
        for (somebody, answer), number in usual.items():
            if somebody != person:
                others[answer] += number
        if whole := others.total():
            due = {answer: share + int(alone) * others[answer] / whole for answer, share in due.items()}
        if (found := variety(given, due)) is not None:
            yield person, found, int(screens)


def variety(given: Mapping[int, int], due: Mapping[int, float]) -> float | None:
    """Return how many answers other than the most frequent one were given, as a share of those that were due.

    `given` and `due` say it for each answer. None where fewer than `OTHERS_DUE` were due.
    """
    most = max(given, key=given.__getitem__)
    others_due = sum(number for answer, number in due.items() if answer != most)
    if others_due < OTHERS_DUE:
        return None
    return (sum(given.values()) - given[most]) / others_due


def _usual(everybody: QuerySet[Annotation], code: str) -> dict[tuple[int, int], int]:
    """Return how often each annotator gave each answer among the campaign's latest."""
    latest = everybody.order_by("-pk").values("id", "annotator_id")[:_LATEST]
    query, values = latest.query.sql_with_params()
    found = _run(_USUAL.format(code=code, latest=query), values)
    return {(person, int(answer)): int(number) for person, answer, number in found}


def _rates(campaign: Campaign) -> bool:
    return campaign.kind == Campaign.Kind.ATTRIBUTE_LIKERT


def _compiled(annotations: QuerySet[Annotation]) -> tuple[str, tuple[Any, ...]]:
    """Return the annotations as a subquery, so that what counts is said in one place only."""
    columns = ("id", "annotator_id", "task_id", "active_seconds", "submitted_at")
    return annotations.order_by().values(*columns).query.sql_with_params()


def _run(query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return list(cursor.fetchall())


def _went_on() -> QuerySet[QualityEvent]:
    return QualityEvent.objects.filter(ending=QualityEvent.Ending.RESUMED)


def _before_going_on() -> Exists:
    return Exists(
        _went_on().filter(
            enrolment__campaign=OuterRef("campaign"),
            enrolment__annotator=OuterRef("annotator"),
            ended_at__gte=OuterRef("submitted_at"),
        )
    )


def _forgotten(campaign: Campaign, status: str) -> set[tuple[int, int]]:
    """Return annotator and task of the checks answered before the lead let somebody go on: two queries."""
    since: dict[int, datetime] = dict(
        _went_on()
        .filter(enrolment__campaign=campaign)
        .order_by()
        .values_list("enrolment__annotator")
        .annotate(last=Max("ended_at"))
    )
    if not since:
        return set()
    given = campaign.annotations.filter(status=status, is_latest=True, annotator__in=since)
    rows = given.values_list("annotator", "task", "submitted_at")
    return {(person, task) for person, task, moment in rows if moment <= since[person]}
