"""The quality rules that every campaign starts with: they warn, and never pause anybody.

They catch annotators who click through without looking. Honest work stays clear of the thresholds: a marking screen
takes a person several seconds; somebody who answers as others do has a variety around 100 %, somebody who overlooks
half of what is there around 50 %. `make bench ARGS=quality_rules` simulates how often
honest annotators are warned, and careless ones are not.
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
