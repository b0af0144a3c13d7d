"""Which campaigns a report is about."""

from collections.abc import Sequence

from annotation.models import Campaign
from foundation.errors import NotFound
from studies.models import Study


def campaigns_named(study: Study, slugs: Sequence[str]) -> list[Campaign]:
    """Return the study's campaigns, or those of `slugs`."""
    campaigns = list(study.campaigns.order_by("pk"))
    if not slugs:
        return campaigns
    unknown = set(slugs) - {campaign.slug for campaign in campaigns}
    if unknown:
        raise NotFound("campaign_not_found", f"There is no campaign “{min(unknown)}” in {study.name}.")
    return [campaign for campaign in campaigns if campaign.slug in slugs]
