"""What a campaign will ask, in the numbers a lead decides by."""

from dataclasses import dataclass

from annotation.campaigns.planning import sampling
from annotation.campaigns.planning.sampling import Plan
from annotation.models import Campaign
from studies.protocol.totals import SECONDS_PER_RATING, SECONDS_PER_SCREEN


@dataclass(frozen=True)
class Asking:
    """A plan with the time it takes, at an assumed pace."""

    plan: Plan
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
        return self.kind == Campaign.Kind.STEREOTYPE_MARKING


def asking(campaign: Campaign) -> Asking:
    """Return what `campaign`, saved or not, would ask if it opened now."""
    rating = campaign.kind == Campaign.Kind.ATTRIBUTE_LIKERT
    seconds = SECONDS_PER_RATING if rating else SECONDS_PER_SCREEN
    return Asking(plan=sampling.plan(campaign), kind=campaign.kind, seconds_per_screen=seconds)
