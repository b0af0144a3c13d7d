"""Estimate the work of a planned campaign."""

from dataclasses import dataclass

from annotation.campaigns.planning import task_plan
from annotation.campaigns.planning.plan import CampaignPlan
from annotation.kinds.declaration import Kind
from annotation.kinds.questions import Question
from annotation.kinds.registry import kind_of
from annotation.models import Campaign
from studies.protocol.totals import SECONDS_PER_RATING, SECONDS_PER_SCREEN

# Assumed until a campaign has its own median: to look at a stimulus, and to answer a question about it.
_SECONDS_TO_LOOK = 3
_SECONDS_TO_ANSWER = {"scale": 4, "choice": 5, "compare": 5, "rank": 15, "text": 25, "span": 10}
_SECONDS_FOR_PLACES = 10


@dataclass(frozen=True)
class CampaignEstimate:
    """A plan with the time it takes, at an assumed pace."""

    plan: CampaignPlan
    kind: Kind
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
    def shows_images(self) -> bool:
        return self.kind.stimuli.medium == "image"


def estimate(campaign: Campaign) -> CampaignEstimate:
    """Return what `campaign`, saved or not, would ask if it opened now."""
    kind = kind_of(campaign)
    return CampaignEstimate(
        plan=task_plan.plan(campaign), kind=kind, seconds_per_screen=seconds_per_screen(kind)
    )


def seconds_per_screen(kind: Kind) -> int:
    """Return the assumed time for a screen."""
    if kind.rates_attributes:
        return SECONDS_PER_RATING
    if kind.marks_attributes:
        return SECONDS_PER_SCREEN
    # A question that depends on another answer is left out: few answers lead to it.
    asked = (_seconds_to_answer(question, kind) for question in kind.questions if question.when is None)
    return kind.stimuli.most * _SECONDS_TO_LOOK + sum(asked)


def _seconds_to_answer(question: Question, kind: Kind) -> int:
    seconds = _SECONDS_TO_ANSWER[question.type] + (_SECONDS_FOR_PLACES if question.region else 0)
    return seconds * (kind.stimuli.most if question.each else 1)
