"""Known ids of a person and a place are followed through a whole run: they stand nowhere but sealed."""

import logging

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.urls import reverse

from annotation.recruitment import background
from annotation.recruitment.models import PanelEvent
from annotation.recruitment.payments import outbox
from annotation.recruitment.prolific import reconcile, webhooks
from jobs.models import Job
from tests.annotation.recruitment.prolific.test_webhooks import events_of, post, told
from tests.annotation.recruitment.test_lead_pages import page

pytestmark = pytest.mark.django_db
__all__ = ["post", "told"]
PERSON = "5f3a0c77b1d2e4a6c8f00112"


@pytest.fixture
def run(fake, post, visitor, published, lead, caplog):
    """Somebody came, worked, returned and is paid; events were heard, also forged ones; Prolific failed at times."""
    caplog.set_level(logging.DEBUG)
    browser = visitor(PERSON)
    browser.answer(3)
    browser.finish()
    for event in events_of(fake, browser):
        post.bring(event)
        post.bring({**event, "id": "forged"}, secret="a-guess")
    background.wake(post.provider)
    fake.fault("submission", "502", times=2)
    webhooks.handle(post.provider)
    fake.fault("submissions", "429", seconds=0.1)
    reconcile.compare(published)
    outbox.approve_all(recruitment=published, by=lead)
    return browser


def test_no_row_session_or_log_holds_an_id(run, caplog, fake):
    assert PanelEvent.objects.count() == 3
    hidden = (PERSON, run.submission, fake.token)
    for model in apps.get_models(include_auto_created=True):
        for row in model._default_manager.values():
            assert not any(text in repr(row) for text in hidden), model
    for session in Session.objects.all():
        assert not any(text in repr(session.get_decoded()) for text in hidden)
    records = [*caplog.get_records("setup"), *caplog.records]
    own = [record.getMessage() for record in records if record.name != "django.db.backends"]
    assert own
    assert not any(text in line for line in own for text in hidden)


def test_no_page_table_or_answer_of_the_api_holds_an_id(run, published, lead_client, fake):
    at = {"study": "isles", "campaign": "marking"}
    place = {"recruitment": published.pk}
    addresses = [
        *(
            page(name)
            for name in ("campaign", "annotators", "pay", "pay_table", "annotations", "recruitments")
        ),
        *(page(name, **place) for name in ("recruitment", "recruitment_review", "recruitment_publish")),
        page("panel", panel=published.provider_id),
        page("panel_place", **place, place=run.place.pk),
        reverse("studies:history", args=["isles"]),
        reverse("jobs:list"),
        *(reverse("jobs:detail", args=[job.pk]) for job in Job.objects.all()),
        f"/api/v1/campaigns/{published.campaign_id}/annotators/",
        run.page("end"),
        run.page("welcome"),
    ]
    assert at
    hidden = (PERSON, run.submission, fake.token)
    for address in addresses:
        client = run if address.startswith("/annotate/") else lead_client
        response = client.get(address)
        assert response.status_code in {200, 302}, address
        content = b"".join(response) if response.streaming else response.content
        assert not any(text.encode() in content for text in hidden), address
        assert not any(text in str(response.headers) for text in hidden), address
