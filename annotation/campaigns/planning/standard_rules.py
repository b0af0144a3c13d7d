"""The quality rules that every campaign starts with: they warn, and never pause anybody.

They detect annotators who click without looking. Honest work does not come near the thresholds: a marking screen takes
several seconds; an annotator who answers like others has a variety around 100 %, and one who overlooks half of the
attributes around 50 %. `make bench ARGS=quality_rules` simulates how often honest annotators are warned and careless
ones are not.
"""

from collections.abc import Iterable

from annotation.kinds.registry import kind_of
from annotation.models import Campaign, QualityAction, QualityRule


def set_standard_rules(campaign: Campaign) -> None:
    """Give a new campaign its standard rules."""
    QualityRule.objects.bulk_create(rules_of_kind(campaign))


def rules_of_kind(campaign: Campaign) -> Iterable[QualityRule]:
    """Return the standard rules of a campaign of this kind, not stored."""
    return [
        QualityRule(campaign=campaign, action=QualityAction.WARN, standard=True, **rule.model_dump())
        for rule in kind_of(campaign).standard_rules
    ]
