"""Assumptions for a plan that are taken from a pilot: rates, disagreement, times and pay."""

from typing import Any

from django.db.models import Avg

from analysis.planning.people import written_rules
from analysis.results.parameters import parameters_of
from analysis.results.schema import MARKING
from annotation.answers.inclusion import counted
from annotation.assignment import quota_rules
from annotation.models import Campaign
from annotation.people.pay import Rate
from foundation.errors import DomainError

_LONGEST_SCREEN = 3_600.0


def assumptions_of(campaign: Campaign) -> dict[str, Any]:
    """Return plan parameters from the labels of a campaign; raise DomainError where they say too little.

    Likelihoods are means over the groups that were shown both stereotypes and random attributes, agreement is α of
    presence, seconds are the mean active time of a screen that counts.
    """
    from analysis.metrics.marking.planning import pilot_assumptions
    from analysis.results.data.labels import load

    if campaign.kind != MARKING:
        raise DomainError(
            "no_pilot", f"The campaign “{campaign.name}” does not ask which attributes are in the image."
        )
    study = campaign.study
    data = load(study=study, parameters=parameters_of(study, campaigns=[campaign.slug]))
    roles = data.associations
    try:
        assumed = pilot_assumptions(data.judgements, roles)
    except ValueError as error:
        raise DomainError(
            "no_pilot", f"The campaign “{campaign.name}” has too few labels for a plan ({error})."
        ) from error
    values: dict[str, Any] = {
        "likelihood_stereotype": _inside(assumed.stereotype),
        "likelihood_random": _inside(assumed.random),
        "agreement": round(assumed.agreement, 3),
        "annotators_per_task": str(campaign.annotators_per_task),
        "attributes_per_screen": campaign.attributes_per_screen,
        "quotas": written_rules(quota_rules.stored(campaign)),
    }
    seconds = counted(campaign).aggregate(mean=Avg("active_seconds"))["mean"]
    if seconds:
        values["seconds_per_screen"] = round(min(max(seconds, 1.0), _LONGEST_SCREEN), 1)
    rate = Rate.of(campaign)
    if rate is not None:
        values |= {
            "pay_amount": float(rate.amount),
            "pay_currency": rate.currency,
            "pay_per": rate.per,
        }
    return values


def _inside(share: float) -> float:
    """Return a rate as the plan takes it: never 0 or 1, which no sample shows."""
    return round(min(max(share, 0.005), 0.995), 3)
