"""Campaigns to work with."""

import pytest

from annotation.campaigns import lifecycle
from annotation.models import Campaign
from tests.annotation.factories import add_images


@pytest.fixture
def marking(study, lead) -> Campaign:
    """An open marking campaign: 2 groups × 2 images × 6 attributes on two screens, 2 annotators each."""
    add_images(study, 2)
    draft = lifecycle.create(
        study=study,
        name="Marking",
        kind=Campaign.Kind.STEREOTYPE_MARKING,
        by=lead,
        annotators_per_task=2,
        attributes_per_screen=3,
    )
    return lifecycle.open_(campaign=draft, by=lead)


@pytest.fixture
def rating(study, lead) -> Campaign:
    """An open rating campaign: the study's six stereotypes, 3 annotators each."""
    draft = lifecycle.create(study=study, name="Ratings", kind=Campaign.Kind.ATTRIBUTE_LIKERT, by=lead)
    return lifecycle.open_(campaign=draft, by=lead)
