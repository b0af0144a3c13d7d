"""Reuses the campaigns of the engine's tests, and adds one with answers."""

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.models import Campaign
from annotation.watch import notices
from tests.annotation.conftest import marking, rating
from tests.annotation.factories import add_images, new_annotator, submit, ticking

__all__ = ["marking", "rating"]


@pytest.fixture(autouse=True)
def looked():
    """Mark notices as just checked, so that the list of studies does not check them in only some tests."""
    cache.set(notices.LOOKED, 1, timeout=3600)
    yield
    cache.delete(notices.LOOKED)


@pytest.fixture
def draft(study, lead) -> Campaign:
    """A draft of a marking campaign: 2 groups × 2 images."""
    add_images(study, 2)
    return lifecycle.create(study=study, name="Drafted", kind="stereotype_marking", by=lead)


@pytest.fixture
def answered(marking) -> Campaign:
    """The marking campaign after two people answered two screens each, ticking the first attribute."""
    for _ in range(2):
        annotator = new_annotator(marking)
        for _ in range(2):
            leased = leases.next_assignment(campaign=marking, annotator=annotator)
            submit(leased, ticking(leased, *_first_text(leased)))
    return marking


@pytest.fixture
def annotator_client(marking) -> Client:
    """The client of somebody who only annotates."""
    client = Client()
    client.force_login(new_annotator(marking).user)
    return client


def _first_text(leased) -> list[str]:
    return [leased.task.task_attributes.order_by("position").first().attribute.text]


@pytest.fixture
def queries():
    """A function that counts the queries of a page: `queries(client, url)`."""

    def count(client: Client, url: str, data: dict | None = None) -> int:
        with CaptureQueriesContext(connection) as captured:
            answer = client.get(url) if data is None else client.post(url, data)
        assert answer.status_code == 200
        return len(captured)

    return count
