"""Estimate the work of a planned campaign."""

from dataclasses import dataclass

from annotation.campaigns.planning import sampling
from annotation.campaigns.planning.sampling import CampaignPlan
from annotation.kinds.registry import kind_of
from annotation.models import Campaign
from studies.protocol.totals import SECONDS_PER_RATING, SECONDS_PER_SCREEN


@dataclass(frozen=True)
class CampaignEstimate:
    """A plan with the time it takes, at an assumed pace."""

    plan: CampaignPlan
    kind: str
    seconds_per_screen: int

    @property
    def hours(self) -> float:
        return self.plan.submissions * self.seconds_per_screen / 3600

    @property
    def hours_each(self) -> float:
        """Hours for one annotator who answers every screen once."""
        return self.plan.screens * self.seconds_per_screen / 3600

    @property
    def digits(self) -> int:
        """Decimals worth showing of its hours."""
        return 1 if self.hours < 10 else 0

    @property
    def marks_images(self) -> bool:
        return kind_of(self).marks_attributes


def estimate(campaign: Campaign) -> CampaignEstimate:
    """Return what `campaign`, saved or not, would ask if it opened now."""
    rating = kind_of(campaign).rates_attributes
    seconds = SECONDS_PER_RATING if rating else SECONDS_PER_SCREEN
    return CampaignEstimate(plan=sampling.plan(campaign), kind=campaign.kind, seconds_per_screen=seconds)
