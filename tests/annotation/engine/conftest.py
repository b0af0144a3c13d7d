"""Campaigns to work with."""

import pytest

from annotation import campaigns
from annotation.models import Campaign
from tests.annotation.engine.people import add_images


@pytest.fixture
def marking(study, lead) -> Campaign:
    """An open marking campaign: 2 groups × 2 images × 6 attributes on two screens, 2 annotators each."""
    add_images(study, 2)
    draft = campaigns.create(
        study=study,
        name="Marking",
        kind=Campaign.Kind.STEREOTYPE_MARKING,
        by=lead,
        annotators_per_task=2,
        attributes_per_screen=3,
    )
    return campaigns.open_(campaign=draft, by=lead)


@pytest.fixture
def rating(study, lead) -> Campaign:
    """An open rating campaign: the study's six stereotypes, 3 annotators each."""
    draft = campaigns.create(study=study, name="Ratings", kind=Campaign.Kind.ATTRIBUTE_LIKERT, by=lead)
    return campaigns.open_(campaign=draft, by=lead)
