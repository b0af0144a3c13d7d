"""A draft that is ready to open; each test removes one thing."""

from typing import Any

import pytest

from annotation.campaigns import known_tasks, lifecycle
from annotation.models import Campaign
from catalog.models import Attribute
from studies.consent import publish_consent
from tests.annotation.factories import add_images, new_annotator, none_of_them, submit

TEXTS: dict[str, Any] = {
    "body": "The Harbour Institute asks you to look at pictures. Write to office@harbour.example with questions.",
    "content_notice": "Some words repeat prejudices about invented peoples, and some of them may be insulting.",
    "support": "Take a break whenever you like.",
}


@pytest.fixture
def pilot(study, lead) -> Campaign:
    """A campaign of the study that somebody answered."""
    from annotation.assignment import leases

    add_images(study, per_group=1)
    campaign = lifecycle.create(study=study, name="Pilot", kind="stereotype_marking", by=lead)
    campaign = lifecycle.open_(campaign=campaign, by=lead)
    leased = leases.next_assignment(campaign=campaign, annotator=new_annotator(campaign))
    submit(leased, none_of_them(leased))
    return campaign


@pytest.fixture
def ready(pilot, study, lead) -> Campaign:
    publish_consent(study=study, by=lead, **TEXTS)
    study.refresh_from_db()
    draft = lifecycle.create(
        study=study,
        name="Main",
        kind="stereotype_marking",
        by=lead,
        options={"pay_amount": 12.0, "pay_per": "task", "pay_budget": 1_000.0},
    )
    attribute = Attribute.objects.get(text="tall hat")
    known_tasks.add(
        campaign=draft,
        purpose="practice",
        by=lead,
        content=known_tasks.TaskContent(image=study.images.first(), attributes=[attribute]),
        answers={attribute: True},
    )
    return Campaign.objects.select_related("study").get(pk=draft.pk)
