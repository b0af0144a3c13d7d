"""A person from Prolific also labels in Label Studio: no byte sent to it contains their ids."""

import pytest

from annotation.campaigns import lifecycle
from annotation.label_studio.push.sync import push
from annotation.models import Enrolment
from tests.annotation.conftest import marking
from tests.annotation.recruitment.conftest import fake
from tests.annotation.recruitment.prolific.conftest import planned, prolific_panel, published, visitor
from tests.services.label_studio.push.campaigns import SITE, begun, recorded

__all__ = ["fake", "marking", "planned", "prolific_panel", "published", "visitor"]
pytestmark = [pytest.mark.services, pytest.mark.django_db]
PERSON = "5f3a0c77b1d2e4a6c8f00112"


@pytest.mark.parametrize("arrangement", ["per_annotator", "shared"])
def test_no_byte_that_a_label_studio_is_sent_holds_the_id_of_a_panel(
    label_studio, fake, visitor, study, lead, settings, arrangement
):
    settings.SITE_URL = SITE
    browser = visitor(PERSON)
    browser.answer(3)
    browser.finish()
    annotator = browser.place.enrolment.annotator
    draft = lifecycle.create(study=study, name="Ratings", kind="attribute_likert", by=lead)
    rating = lifecycle.open_(campaign=draft, by=lead)
    Enrolment.objects.create(campaign=rating, annotator=annotator)
    with recorded(label_studio.url) as proxy:
        bridge = begun(label_studio, rating, lead, arrangement, url=proxy.url)
        push(bridge=bridge, by=lead)
        sent = proxy.text()
    assert proxy.asked("POST", "/import") >= 1
    assert "tall hat" in sent
    for hidden in (PERSON, browser.submission, fake.token, annotator.user.username):
        assert hidden.lower() not in sent
