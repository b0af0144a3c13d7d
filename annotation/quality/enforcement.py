"""Enforce a campaign's quality rules: annotators who miss a threshold are warned or paused.

A lead's rules are checked after every tenth answer of an annotator, outside the transaction that saves it, and for
everybody when a lead asks or changes a rule. With standard rules only, an annotator is checked after an answer at
most once a minute in each process, which keeps submissions fast. Pages that show flags check first. An
answer to a gold task or a repeat never makes a check due by itself: frequent warnings after such answers would reveal
which tasks are checks.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from django.core.cache import cache
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts.models import Annotator
from annotation.models import (
    Annotation,
    Campaign,
    Enrolment,
    QualityAction,
    QualityEvent,
    QualityMeasure,
    QualityRule,
)
from annotation.people import enrolments
from annotation.quality.measures import MeasureValue, qualities
from annotation.quality.sentences import for_lead
from studies import audit

EVERY = 10  # answers
LATEST = 100  # answers of an annotator that the standard rules look at
_ONCE_IN_SECONDS = 60
_PAUSE, _SIMULATED = QualityAction.PAUSE, Annotator.Origin.SIMULATED
_REASON_LENGTH = 300


@dataclass(frozen=True)
class _FlagChanges:
    """The newly missed thresholds of an annotator, and the keys of events that are over."""

    missed: list[tuple[QualityRule, float, int]]  # with the value and the number of its answers
    recovered: list[int]


def after_answer(*, annotation_id: int) -> list[QualityEvent]:
    """Check the annotator of a saved answer if a check is due; return the new events."""
    ruled = Exists(QualityRule.objects.filter(campaign=OuterRef("campaign"), standard=False))
    saved = Annotation.objects.annotate(ruled=ruled).select_related("campaign__study").get(pk=annotation_id)
    if not saved.ruled:
        return now_and_then(campaign=saved.campaign, annotator_id=saved.annotator_id)
    answers = Annotation.objects.filter(campaign=saved.campaign_id, annotator=saved.annotator_id, revision=1)
    if saved.revision > 1 or answers.count() % EVERY:
        return []
    return check(campaign=saved.campaign, annotators=[saved.annotator_id])


def now_and_then(*, campaign: Campaign, annotator_id: int) -> list[QualityEvent]:
    """Check an annotator who just answered, unless this process did so within the last minute."""
    if not cache.add(
        f"annotation.quality.measures.{campaign.pk}.{annotator_id}", 1, timeout=_ONCE_IN_SECONDS
    ):
        return []
    return check(campaign=campaign, annotators=[annotator_id])


def check(
    *, campaign: Campaign, annotators: Collection[int] | None = None, warn_only: bool = False
) -> list[QualityEvent]:
    """Check these annotators, or all, against the campaign's rules; return the new events.

    An annotator who misses a threshold is flagged once, until they meet it again or a lead resumes them. The number
    of queries depends only on how many are flagged or recover now. `warn_only` pauses nobody, for pages.
    """
    rules = [rule for rule in campaign.quality_rules.all() if not (warn_only and rule.action == _PAUSE)]
    if not rules or campaign.imported or campaign.state in {Campaign.State.DRAFT, Campaign.State.CLOSED}:
        return []
    active = campaign.enrolments.filter(state=Enrolment.State.ACTIVE)
    if annotators is not None:
        active = active.filter(annotator__in=annotators)
    people = dict(active.values_list("annotator", "pk"))
    if not people:
        return []
    programs = set(active.filter(annotator__origin=_SIMULATED).values_list("annotator", flat=True))
    measured = {
        standard: qualities(
            campaign,
            people if annotators is not None else None,
            measures=sorted({rule.measure for rule in rules if rule.standard == standard}),
            fresh=True,
            latest=LATEST if standard else None,
        )
        for standard in {rule.standard for rule in rules}
    }
    flagged = _flagged(people.values())
    events = []
    for annotator, enrolment in people.items():
        applicable = [rule for rule in rules if applies(rule, simulated=annotator in programs)]
        measured_rules = [(rule, measured[rule.standard][annotator][rule.measure]) for rule in applicable]
        change = _change(measured_rules, flagged.get(enrolment, {}))
        if change.missed or change.recovered:
            events += _follow(enrolment, change)
    return events


def applies(rule: QualityRule, *, simulated: bool) -> bool:
    """Return whether a rule applies to this annotator: simulated ones have no answer times."""
    return not (simulated and rule.standard and rule.measure == QualityMeasure.MEDIAN_SECONDS)


def falls_short(measure: str, threshold: float, value: float) -> bool:
    """Return whether `value` misses the threshold: an upper bound for straight-lining, else a lower one."""
    return value > threshold if measure == QualityMeasure.STRAIGHT_LINING else value < threshold


def standing_events(enrolment: Enrolment, action: str | None = None) -> list[QualityEvent]:
    """Return the annotator's current flags, oldest first."""
    events = enrolment.quality_events.filter(ended_at=None).order_by("pk")
    return list(events if action is None else events.filter(action=action))


def unseen_warnings(enrolment: Enrolment) -> list[QualityEvent]:
    """Return the warnings the annotator has not yet confirmed to have read."""
    return list(
        enrolment.quality_events.filter(action=QualityAction.WARN, seen_at=None, ended_at=None).order_by("pk")
    )


def acknowledge_warnings(*, enrolment: Enrolment) -> int:
    """Record that the annotator has read their warnings; return how many were new."""
    unseen = enrolment.quality_events.filter(action=QualityAction.WARN, seen_at=None)
    return unseen.update(seen_at=timezone.now())


def _flagged(enrolments_: Iterable[int]) -> dict[int, dict[tuple[str, str], int]]:
    flagged: dict[int, dict[tuple[str, str], int]] = {}
    rows = QualityEvent.objects.filter(enrolment__in=list(enrolments_), ended_at=None)
    for pk, enrolment, measure, action in rows.values_list("pk", "enrolment", "measure", "action"):
        flagged.setdefault(enrolment, {})[measure, action] = pk
    return flagged


def _change(
    measured: Iterable[tuple[QualityRule, MeasureValue]], flagged: Mapping[tuple[str, str], int]
) -> _FlagChanges:
    missed, recovered = [], []
    for rule, measure in measured:
        if measure.value is None or measure.rests_on < rule.minimum:
            continue
        event = flagged.get((rule.measure, rule.action))
        if not falls_short(rule.measure, rule.threshold, measure.value):
            recovered += [] if event is None else [event]
        elif event is None:
            missed.append((rule, measure.value, measure.rests_on))
    return _FlagChanges(missed, recovered)


@transaction.atomic
def _follow(enrolment_pk: int, change: _FlagChanges) -> list[QualityEvent]:
    enrolment = (
        Enrolment.objects.select_for_update(of=("self",))
        .select_related("campaign__study", "annotator")
        .get(pk=enrolment_pk)
    )
    if enrolment.state != Enrolment.State.ACTIVE:
        return []
    QualityEvent.objects.filter(pk__in=change.recovered, ended_at=None).update(
        ended_at=timezone.now(), ending=QualityEvent.Ending.RECOVERED
    )
    flagged = _flagged([enrolment.pk]).get(enrolment.pk, {})  # by a simultaneous check
    events = [
        QualityEvent.objects.create(
            enrolment=enrolment,
            measure=rule.measure,
            action=rule.action,
            value=value,
            threshold=rule.threshold,
            rests_on=rests_on,
        )
        for rule, value, rests_on in change.missed
        if (rule.measure, rule.action) not in flagged
    ]
    _tell(enrolment, events)
    return events


def _tell(enrolment: Enrolment, events: list[QualityEvent]) -> None:
    warned = [for_lead(event) for event in events if event.action == QualityAction.WARN]
    paused = [for_lead(event) for event in events if event.action == QualityAction.PAUSE]
    if warned:
        audit.record(
            by=None,
            action="enrolment.warned",
            subject=enrolment.campaign,
            study=enrolment.campaign.study,
            pseudonym=enrolment.annotator.pseudonym,
            reason="; ".join(warned),
        )
    if paused:
        enrolments.pause(enrolment=enrolment, by=None, reason="; ".join(paused)[:_REASON_LENGTH])
