"""What follows from a campaign's quality rules: annotators who miss a threshold are warned or paused.

Rules that a lead set are looked at after every tenth answer of an annotator, once it is saved and never within the
transaction that saves it; and for everybody when a lead asks or changes a rule. Where only the standard rules
stand, an annotator is looked at after an answer at most once a minute in each process, which costs those who label
nothing. Pages that show flags look first. Never after a check as such: a warning that came right behind one would
tell that it was one.
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
from annotation.quality.measures import Measured, qualities
from annotation.quality.sentences import for_lead
from studies import audit

EVERY = 10  # answers
LATEST = 100  # answers of an annotator that the standard rules look at
_ONCE_IN_SECONDS = 60
_PAUSE, _SIMULATED = QualityAction.PAUSE, Annotator.Origin.SIMULATED
_REASON_LENGTH = 300


@dataclass(frozen=True)
class _Change:
    """What one annotator's measures change: thresholds missed anew, and events that are over."""

    missed: list[tuple[QualityRule, float, int]]  # with the value and the number of answers it rests on
    recovered: list[int]


def after_answer(*, annotation_id: int) -> list[QualityEvent]:
    """Look at whoever gave an answer, if it is time to; return what followed. Call it once the answer is saved."""
    ruled = Exists(QualityRule.objects.filter(campaign=OuterRef("campaign"), standard=False))
    saved = Annotation.objects.annotate(ruled=ruled).select_related("campaign__study").get(pk=annotation_id)
    if not saved.ruled:
        return now_and_then(campaign=saved.campaign, annotator_id=saved.annotator_id)
    done = Annotation.objects.filter(campaign=saved.campaign_id, annotator=saved.annotator_id, revision=1)
    if saved.revision > 1 or done.count() % EVERY:
        return []
    return check(campaign=saved.campaign, annotators=[saved.annotator_id])


def now_and_then(*, campaign: Campaign, annotator_id: int) -> list[QualityEvent]:
    """Look at somebody who just answered, unless this process did within the last minute."""
    if not cache.add(
        f"annotation.quality.measures.{campaign.pk}.{annotator_id}", 1, timeout=_ONCE_IN_SECONDS
    ):
        return []
    return check(campaign=campaign, annotators=[annotator_id])


def check(
    *, campaign: Campaign, annotators: Collection[int] | None = None, warn_only: bool = False
) -> list[QualityEvent]:
    """Hold these annotators, or all, against the campaign's rules; return the events that follow.

    Whoever misses a threshold is flagged once, until they meet it again or a lead lets them go on. The queries
    do not depend on how many annotators there are, but for those who are flagged or recover now. `warn_only`:
    whoever would be paused stays as they are, for a page that only shows.
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
    standing = _standing(people.values())
    events = []
    for annotator, enrolment in people.items():
        own_rules = [rule for rule in rules if applies(rule, simulated=annotator in programs)]
        found = [(rule, measured[rule.standard][annotator][rule.measure]) for rule in own_rules]
        change = _change(found, standing.get(enrolment, {}))
        if change.missed or change.recovered:
            events += _follow(enrolment, change)
    return events


def applies(rule: QualityRule, *, simulated: bool) -> bool:
    """Return whether a rule is for this annotator: a program's answers take no time."""
    return not (simulated and rule.standard and rule.measure == QualityMeasure.MEDIAN_SECONDS)


def falls_short(measure: str, threshold: float, value: float) -> bool:
    """Return whether `value` misses the threshold: of straight-lining more is worse, of all else less."""
    return value > threshold if measure == QualityMeasure.STRAIGHT_LINING else value < threshold


def standing_events(enrolment: Enrolment, action: str | None = None) -> list[QualityEvent]:
    """Return the flags that an annotator has now, the oldest first."""
    events = enrolment.quality_events.filter(ended_at=None).order_by("pk")
    return list(events if action is None else events.filter(action=action))


def unseen_warnings(enrolment: Enrolment) -> list[QualityEvent]:
    """Return the warnings the annotator has not yet said to have read."""
    return list(
        enrolment.quality_events.filter(action=QualityAction.WARN, seen_at=None, ended_at=None).order_by("pk")
    )


def seen(*, enrolment: Enrolment) -> int:
    """Keep that the annotator has read their warnings; return how many were new."""
    unseen = enrolment.quality_events.filter(action=QualityAction.WARN, seen_at=None)
    return unseen.update(seen_at=timezone.now())


def _standing(enrolments_: Iterable[int]) -> dict[int, dict[tuple[str, str], int]]:
    found: dict[int, dict[tuple[str, str], int]] = {}
    rows = QualityEvent.objects.filter(enrolment__in=list(enrolments_), ended_at=None)
    for pk, enrolment, measure, action in rows.values_list("pk", "enrolment", "measure", "action"):
        found.setdefault(enrolment, {})[measure, action] = pk
    return found


def _change(
    measured: Iterable[tuple[QualityRule, Measured]], standing: Mapping[tuple[str, str], int]
) -> _Change:
    missed, recovered = [], []
    for rule, found in measured:
        if found.value is None or found.rests_on < rule.minimum:
            continue
        event = standing.get((rule.measure, rule.action))
        if not falls_short(rule.measure, rule.threshold, found.value):
            recovered += [] if event is None else [event]
        elif event is None:
            missed.append((rule, found.value, found.rests_on))
    return _Change(missed, recovered)


@transaction.atomic
def _follow(enrolment_pk: int, change: _Change) -> list[QualityEvent]:
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
    flagged = _standing([enrolment.pk]).get(enrolment.pk, {})  # by whoever looked at the same moment
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
    warned = [for_lead(one) for one in events if one.action == QualityAction.WARN]
    paused = [for_lead(one) for one in events if one.action == QualityAction.PAUSE]
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
