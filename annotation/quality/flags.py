"""Flags of annotators for leads and analysts: the quality rules they miss.

In a campaign that was labelled here a flag is a current warning or pause. An imported campaign has no rules of its
own: its annotators are measured against the standard rules.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from annotation.campaigns.planning.standard_rules import rules_of_kind
from annotation.models import Campaign, Enrolment, QualityAction, QualityEvent
from annotation.quality import enforcement
from annotation.quality.measures import qualities
from annotation.quality.sentences import for_lead

_DID = {QualityAction.WARN: "warned", QualityAction.PAUSE: "paused"}


@dataclass(frozen=True)
class Flag:
    """A measure whose threshold an annotator misses, and the measured value."""

    measure: str
    words: str


def flags_of(campaign: Campaign, annotators: Collection[int] | None = None) -> dict[int, list[Flag]]:
    """Return the current flags of these annotators, or all; annotators without flags are left out."""
    enforcement.check(campaign=campaign, annotators=annotators, warn_only=True)
    enrolments = campaign.enrolments.all()
    return checked_flags(
        campaign, enrolments if annotators is None else enrolments.filter(annotator__in=annotators)
    )


def checked_flags(campaign: Campaign, enrolments: Iterable[Enrolment]) -> dict[int, list[Flag]]:
    """Return the flags by annotator as of the last check."""
    if campaign.imported:
        return _by_standard_rules(campaign, [enrolment.annotator_id for enrolment in enrolments])
    return _open_events(enrolments)


def _open_events(enrolments: Iterable[Enrolment]) -> dict[int, list[Flag]]:
    flags: dict[int, list[Flag]] = defaultdict(list)
    keys = [enrolment.pk for enrolment in enrolments]
    standing = QualityEvent.objects.filter(enrolment__in=keys, ended_at=None).select_related("enrolment")
    for event in standing.order_by("pk"):
        words = f"{_DID[QualityAction(event.action)]}: {for_lead(event)}"
        flags[event.enrolment.annotator_id].append(Flag(event.measure, words))
    return dict(flags)


def _by_standard_rules(campaign: Campaign, annotators: Collection[int] | None) -> dict[int, list[Flag]]:
    rules = rules_of_kind(campaign)
    measured = qualities(campaign, annotators, measures=[rule.measure for rule in rules])
    flags: dict[int, list[Flag]] = defaultdict(list)
    for person, quality in measured.items():
        for rule in rules:
            value, rests_on = quality[rule.measure].value, quality[rule.measure].rests_on
            if value is None or rests_on < rule.minimum:
                continue
            if enforcement.falls_short(rule.measure, rule.threshold, value):
                event = QualityEvent(
                    measure=rule.measure, value=value, threshold=rule.threshold, rests_on=rests_on
                )
                flags[person].append(Flag(rule.measure, for_lead(event)))
    return dict(flags)
