"""The outcome of a campaign that is closed or complete, and the usual next steps of a lead."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from annotation.campaigns.planning.visual_attributes import visual_attributes
from annotation.kinds.options import FROM_CAMPAIGN
from annotation.kinds.registry import MARKING, kind_of
from annotation.models import Annotation, Campaign, Task, TaskAttribute
from web.navigation import NextPage, next_steps

CLOSED = "closed campaign"  # after which other apps offer next steps


@dataclass(frozen=True)
class VisualAttributes:
    """How many attributes a rating campaign found to be visual, and the form of a campaign that marks them."""

    found: int
    rated: int
    marking: str


@dataclass(frozen=True)
class Outcome:
    """The outcome as shown on the page of such a campaign."""

    is_closed: bool
    has_labels: bool
    next_steps: list[NextPage]
    visual: VisualAttributes | None


def outcome_of(campaign: Campaign, *, is_complete: bool) -> Outcome | None:
    """Return the outcome of a campaign, or None while it may still get missing answers."""
    is_closed = campaign.state == Campaign.State.CLOSED and not campaign.imported
    if not is_closed and not is_complete:
        return None
    has_labels = Annotation.objects.filter(campaign=campaign, status=Annotation.Status.ACCEPTED).exists()
    return Outcome(
        is_closed=is_closed,
        has_labels=has_labels,
        next_steps=next_steps(CLOSED, campaign) if is_closed and has_labels else [],
        visual=_visual(campaign) if has_labels and kind_of(campaign).rates_attributes else None,
    )


def _visual(campaign: Campaign) -> VisualAttributes:
    visual, unrated = visual_attributes(campaign)
    asked = TaskAttribute.objects.filter(task__campaign=campaign, task__purpose=Task.Purpose.LABEL)
    query = urlencode({"kind": MARKING.key, "visual_source": f"{FROM_CAMPAIGN}{campaign.slug}"})
    return VisualAttributes(
        found=len(visual),
        rated=asked.values("attribute").distinct().count() - unrated,
        marking=f"{reverse('annotation:campaign_new', args=[campaign.study.slug])}?{query}",
    )
