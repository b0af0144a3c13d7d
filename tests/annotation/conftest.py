"""Open campaigns."""

import pytest

from annotation.campaigns import lifecycle
from annotation.models import Campaign
from tests.annotation.factories import add_images
from tests.annotation.labelling.production_paths import ByVerbs, OverHttp


@pytest.fixture
def marking(study, lead) -> Campaign:
    """An open marking campaign: 2 groups × 2 images × 6 attributes on two screens, 2 annotators each."""
    add_images(study, 2)
    draft = lifecycle.create(
        study=study,
        name="Marking",
        kind="stereotype_marking",
        by=lead,
        annotators_per_task=2,
        attributes_per_screen=3,
    )
    return lifecycle.open_(campaign=draft, by=lead)


@pytest.fixture
def rating(study, lead) -> Campaign:
    """An open rating campaign: the study's six stereotypes, 3 annotators each."""
    draft = lifecycle.create(study=study, name="Ratings", kind="attribute_likert", by=lead)
    return lifecycle.open_(campaign=draft, by=lead)


@pytest.fixture(params=[pytest.param(ByVerbs, id="by verbs"), pytest.param(OverHttp, id="over HTTP")])
def path(request) -> ByVerbs | OverHttp:
    """The path of real answers: by the verbs of the API's handlers, and over HTTP."""
    return request.param()
