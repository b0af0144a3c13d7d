"""How annotators work: five measures, each with the number of screens it rests on.

One set of aggregate queries serves one annotator, one page of them, or all. Undefined is None with a reason.
Only annotations that count (`annotation.counted`) are measured; gold tasks and repeats are read by
`annotation.checks`.

- gold accuracy: the share of the known answers on gold tasks that were given right;
- agreement: the mean over shared units (image and attribute, or attribute) of the share of the others' answers
  that equal theirs (metrics.md §4);
- self-consistency: the share of the answers on repeats that equal those given before;
- median seconds: the median active time a screen, idle time left out by the browser;
- straight-lining: the share of the most frequent answer. A rating's is its value; a marking's is which places
  of the screen were ticked, where 'all of them' and 'none of the above' are one answer each whatever the length
  of the screen. So somebody who always ticks nothing, everything or the first word stands out alike.

`analysis.metrics` has agreement, gold accuracy and self-consistency as pure functions of tables, for results;
it may not import this package, nor this package it, and a page of a running campaign cannot load every
judgement. The tests hold the two equal on the same answers.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Exists, Max, OuterRef, QuerySet

from accounts.consent import withdrawn_from
from annotation import checks
from annotation.counted import counted
from annotation.models import Annotation, Campaign, QualityEvent, QualityMeasure

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

_NOTHING = {
    Measure.GOLD_ACCURACY: Measured(None, reason="no_gold_task_answered"),
    Measure.AGREEMENT: Measured(None, reason="nobody_else_answered_the_same"),
    Measure.SELF_CONSISTENCY: Measured(None, reason="no_repeat_answered"),
    Measure.MEDIAN_SECONDS: Measured(None, reason="no_time_known"),
    Measure.STRAIGHT_LINING: Measured(None, reason="no_answer_counts"),
}

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
    WHERE q.given > 1 {asked}
    GROUP BY q.annotator_id
"""
_ANSWERED_SINCE = """
    AND NOT EXISTS (SELECT 1 FROM annotation_qualityevent e JOIN annotation_enrolment n ON n.id = e.enrolment_id
                    WHERE n.campaign_id = %s AND n.annotator_id = q.annotator_id
                    AND e.ending = 'resumed' AND e.ended_at >= q.submitted_at)
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
_IMAGES_EACH = """
    SELECT COUNT(*), SUM(CASE WHEN i.images = 1 THEN 1 ELSE 0 END)
    FROM (SELECT COUNT(DISTINCT t.image_id) AS images
          FROM ({everybody}) m JOIN annotation_task t ON t.id = m.task_id
          GROUP BY m.annotator_id) i
"""
_JUDGED_AGAIN = """
    SELECT COUNT(*)
    FROM (SELECT 1 AS one FROM ({everybody}) m
          JOIN annotation_task t ON t.id = m.task_id
          JOIN annotation_judgement j ON j.annotation_id = m.id
          GROUP BY m.annotator_id, t.image_id, j.attribute_id HAVING COUNT(*) > 1) d
"""


def qualities(
    campaign: Campaign,
    annotators: Collection[int] | None = None,
    *,
    measures: Collection[str] = ALL,
    fresh: bool = False,
) -> dict[int, Quality]:
    """Return the measures of these annotators, or of all who take part; at most nine queries.

    With `fresh` nothing counts that was answered before the lead last let an annotator go on after a rule
    had paused or warned them.
    """
    asked = campaign.enrolments.values_list("annotator", flat=True) if annotators is None else annotators
    found: dict[int, dict[str, Measured]] = {
        person: {measure: _NOTHING[Measure(measure)] for measure in measures} for person in asked
    }
    if not found:
        return {}
    if campaign.imported and not _ids_usable(campaign):
        return {person: _none_of(measures, IDS_UNUSABLE) for person in found}
    everybody = counted(campaign)
    for measure in measures:
        for person, value, rests_on in _rows(Measure(measure), campaign, everybody, annotators, fresh):
            if person in found:
                found[person][measure] = Measured(float(value), int(rests_on))
    if not campaign.imported:
        gone = withdrawn_from(campaign.study).filter(enrolments__campaign=campaign)
        for person in gone.values_list("pk", flat=True):
            if person in found:
                found[person] = _none_of(measures, WITHDRAWN)
    return dict(found)


def quality_of(campaign: Campaign, annotator_id: int) -> Quality:
    """Return the measures of one annotator."""
    return qualities(campaign, [annotator_id])[annotator_id]


def _none_of(measures: Collection[str], reason: str) -> dict[str, Measured]:
    return {measure: Measured(None, reason=reason) for measure in measures}


def _rows(
    measure: Measure,
    campaign: Campaign,
    everybody: QuerySet[Annotation],
    people: Collection[int] | None,
    fresh: bool,
) -> Iterable[tuple[int, Any, Any]]:
    """Yield annotator, value and number of screens of whoever the measure is defined for."""
    if measure == Measure.GOLD_ACCURACY:
        gold = ((one.annotator_id, one.task_id, one.correct) for one in checks.gold_answers(campaign, people))
        return _shares(gold, _forgotten(campaign, Annotation.Status.GOLD) if fresh else frozenset())
    if measure == Measure.SELF_CONSISTENCY:
        pairs = checks.repeat_pairs(campaign, people)
        same = ((one.annotator_id, one.task_id, one.first == one.second) for one in pairs)
        return _shares(same, _forgotten(campaign, Annotation.Status.REPEAT) if fresh else frozenset())
    if measure == Measure.AGREEMENT:
        return _agreement(campaign, everybody, people, fresh)
    mine = everybody if people is None else everybody.filter(annotator__in=people)
    if fresh:
        mine = mine.exclude(_before_going_on())
    own, values = _compiled(mine)
    if measure == Measure.MEDIAN_SECONDS:
        return _run(_MEDIAN.format(mine=own), values)
    answers = (_RATINGS if _rates(campaign) else _PATTERNS).format(mine=own)
    return _run(_STRAIGHT.format(answers=answers), values)


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


def _agreement(
    campaign: Campaign, everybody: QuerySet[Annotation], people: Collection[int] | None, fresh: bool
) -> list[tuple[int, Any, Any]]:
    # A file may show one image in several tasks; what a campaign of ours asks of an image is in one task only.
    by_image = campaign.imported and not _rates(campaign)
    asked = ""
    asked_values: tuple[int, ...] = ()
    if people is not None:
        unit = "task__image" if by_image else "task"
        theirs = Annotation.objects.filter(campaign=campaign, annotator__in=people).values(unit)
        everybody = everybody.filter(**{f"{unit}__in": theirs})
        asked_values = tuple(people)
        asked = f"AND q.annotator_id IN ({', '.join(['%s'] * len(asked_values))})"
    if fresh:
        asked, asked_values = asked + _ANSWERED_SINCE, (*asked_values, campaign.pk)
    answers, values = _compiled(everybody)
    query = _AGREEMENT.format(
        unit="t.image_id" if by_image else "t.id",
        answer="rating" if _rates(campaign) else "present",
        everybody=answers,
        asked=asked,
    )
    return _run(query, (*values, *asked_values))


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


def _ids_usable(campaign: Campaign) -> bool:
    """Return whether the ids of a file stand for people, by the rule of metrics.md §0."""
    everybody, values = _compiled(counted(campaign))
    if not _rates(campaign):
        people, on_one_image = _run(_IMAGES_EACH.format(everybody=everybody), values)[0]
        images = campaign.tasks.order_by().values("image").distinct().count()
        if images > 1 and 2 * (on_one_image or 0) > people:
            return False
    return not _run(_JUDGED_AGAIN.format(everybody=everybody), values)[0][0]
