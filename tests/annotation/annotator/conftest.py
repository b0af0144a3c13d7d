"""Two open campaigns of the invented study, with pictures, and people invited to them."""

import pytest
from django.test import Client

from accounts import profiles
from annotation.campaigns import lifecycle
from annotation.models import Campaign
from annotation.people import invitations
from generation.images.storage import store_image
from studies import consent
from tests.generation.drawings import drawing


@pytest.fixture
def pictures(study):
    """Two pictures of each people."""
    return [
        store_image(
            study=study,
            data=drawing(10 * index + number, "drum", "tall hat"),
            group=group,
            model_label="sketch",
        ).image
        for index, group in enumerate(study.groups.order_by("name"), start=1)
        for number in range(2)
    ]


@pytest.fixture
def marking(study, lead, pictures) -> Campaign:
    campaign = lifecycle.create(
        study=study, name="Velmari secrets", kind="stereotype_marking", by=lead, annotators_per_task=2
    )
    return lifecycle.open_(campaign=campaign, by=lead)


@pytest.fixture
def rating(study, lead) -> Campaign:
    campaign = lifecycle.create(
        study=study, name="Orsani words", kind="attribute_likert", by=lead, annotators_per_task=2
    )
    return lifecycle.open_(campaign=campaign, by=lead)


@pytest.fixture
def join(db):
    """Return the client of a new annotator who came by a link, agreed and skipped the profile."""

    def joined(campaign: Campaign, *, ready: bool = True) -> Client:
        _, token = invitations.invite(campaign=campaign, by=None)
        client = Client()
        client.post(f"/annotate/i/{token}/")
        client.enrolment = campaign.enrolments.select_related("annotator__user").latest("pk")
        client.token = token
        if ready:
            consent.give(annotator=client.enrolment.annotator, text=consent.current_text(campaign.study))
            profiles.describe(annotator=client.enrolment.annotator)
        return client

    return joined
