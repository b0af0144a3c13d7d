"""Links to the results of a closed campaign."""

from django.urls import reverse

from analysis.results.reports import running_job
from annotation.kinds.registry import kind_of
from annotation.models import Campaign
from web.navigation import NextPage


def after_closing(campaign: Campaign) -> list[NextPage]:
    """Return links to the results and, while it runs, to the job that computes them."""
    slug = campaign.study.slug
    steps = [NextPage("See the results", reverse("analysis:overview", args=[slug]))]
    if kind_of(campaign).rates_attributes:
        steps.insert(
            0, NextPage("See the visual attributes", reverse("analysis:visual_attributes", args=[slug]))
        )
    if job := running_job(campaign.study):
        steps.append(NextPage("Watch the results being computed", reverse("jobs:detail", args=[job.pk])))
    return steps
