"""The quality rules that every campaign begins with: they warn, and never pause anybody.

They catch who clicks through without looking. Thresholds lie where honest work does not come: a screen of a
marking takes a person several seconds; one who answers as others do on the same questions has a variety of answers
around 100 %, one who overlooks half of what is there around 50 %. `make bench ARGS=quality_rules` simulates how often
honest annotators are warned, and careless ones are not.
"""

from collections.abc import Iterable
from typing import NamedTuple

from annotation.models import Campaign, QualityAction, QualityMeasure, QualityRule

Measure = QualityMeasure


class Standard(NamedTuple):
    """A threshold, and from how many screens on it holds."""

    measure: str
    threshold: float
    minimum: int


STANDARD = {
    Campaign.Kind.STEREOTYPE_MARKING: (
        Standard(Measure.MEDIAN_SECONDS, 2.0, 20),
        Standard(Measure.VARIETY, 0.15, 20),
        Standard(Measure.GOLD_ACCURACY, 0.6, 5),
    ),
    Campaign.Kind.ATTRIBUTE_LIKERT: (
        Standard(Measure.MEDIAN_SECONDS, 1.0, 20),
        Standard(Measure.VARIETY, 0.15, 20),
        Standard(Measure.GOLD_ACCURACY, 0.5, 10),
    ),
}


def set_standard_rules(campaign: Campaign) -> None:
    """Give a new campaign its standard rules."""
    QualityRule.objects.bulk_create(rules_of_kind(campaign))


def rules_of_kind(campaign: Campaign) -> Iterable[QualityRule]:
    """Return the standard rules of a campaign of this kind, not stored."""
    return [
        QualityRule(campaign=campaign, action=QualityAction.WARN, standard=True, **one._asdict())
        for one in STANDARD[Campaign.Kind(campaign.kind)]
    ]
