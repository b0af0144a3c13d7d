"""Events of Prolific are verified, stored before they are acknowledged, and handled in order."""

import base64
import json
import time
from datetime import timedelta

import httpx
import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.recruitment import background
from annotation.recruitment.models import PanelEvent, PanelPlace, Provider
from annotation.recruitment.prolific import access, reconcile, subscription, webhooks
from foundation.errors import DomainError
from jobs.models import Job
from tests.annotation.recruitment.prolific.conftest import SITE, Post, events_of
from tests.annotation.recruitment.prolific.test_reconcile import hold_a_screen, leased
from tests.annotation.recruitment.test_lead_pages import page

pytestmark = pytest.mark.django_db


def test_a_return_event_frees_the_screen(fake, post, visitor):
    browser = visitor()
    hold_a_screen(browser)
    fake.give_back(browser.submission)
    began = time.monotonic()
    assert [post.bring(event) for event in events_of(fake, browser)] == [204, 204, 204]
    assert PanelEvent.objects.filter(handled_at=None).count() == 3
    assert Job.objects.filter(kind=background.EVENTS).count() == 1
    assert webhooks.handle(post.provider) == 3
    assert time.monotonic() - began < 5
    assert (browser.place.state, browser.place.remote_status, leased()) == ("left", "RETURNED", 0)
    assert not PanelEvent.objects.filter(handled_at=None).exists()


def test_an_event_is_stored_before_it_is_acknowledged_and_once(fake, post, visitor):
    browser = visitor()
    event = events_of(fake, browser)[0]
    assert [post.bring(event) for _ in range(3)] == [204, 204, 204]
    stored = PanelEvent.objects.get()
    assert browser.submission not in stored.body_sealed
    assert (
        json.loads(base64.b64decode(access.unseal(stored.body_sealed)))["resource_id"] == browser.submission
    )


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)])
@pytest.mark.parametrize("reachable", [True, False])
def test_the_order_of_events_does_not_matter(fake, post, visitor, order, reachable, monkeypatch):
    """If Prolific does not answer, its signed events count by the time of the change."""
    browser = visitor()
    fake.give_back(browser.submission)
    events = events_of(fake, browser)
    # The stand-in's clock has whole seconds.
    for number, event in enumerate(events):
        event["created"] = time.time() - 60 + number
    if not reachable:
        fake.fault("submission", "502", times=None)
        monkeypatch.setattr("annotation.recruitment.prolific.connection._FIRST_PAUSE", 0.01)
    for place in order:
        assert post.bring(events[place]) == 204
        webhooks.handle(post.provider)
    assert (browser.place.state, browser.place.remote_status) == ("left", "RETURNED")


def test_a_dying_worker_leaves_only_unhandled_events(fake, post, visitor, monkeypatch):
    browsers = [visitor(f"5f3a0c77b1d2e4a6c8f0011{number}") for number in range(3)]
    for browser in browsers:
        fake.give_back(browser.submission)
        assert [post.bring(event) for event in events_of(fake, browser)] == [204, 204, 204]
    answer, asked = httpx.HTTPTransport.handle_request, []

    def answer_once(transport, request):
        asked.append(request)
        if len(asked) > 1:
            raise KeyboardInterrupt  # like SIGINT, it is not caught here
        return answer(transport, request)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", answer_once)
    with pytest.raises(KeyboardInterrupt):
        webhooks.handle(post.provider)
    assert PanelEvent.objects.filter(handled_at=None).count() == 6
    monkeypatch.undo()
    assert webhooks.handle(post.provider) == 6
    assert {browser.place.remote_status for browser in browsers} == {"RETURNED"}


def test_a_forged_event_is_refused_and_changes_nothing(fake, post, visitor, told):
    browser = visitor()
    forged = {**events_of(fake, browser)[0], "id": "forged"}
    forged["body"] = {**forged["body"], "status": "RETURNED"}
    assert post.bring(forged, secret="a-guess") == 403
    assert post.bring(forged, **{"X-Prolific-Request-Signature": ""}) == 403
    assert not PanelEvent.objects.exists()
    told.refresh_from_db()
    assert told.unsigned_at is not None
    assert post.bring(events_of(fake, browser)[0]) == 204
    told.refresh_from_db()
    assert told.unsigned_at is None


def test_a_valid_event_with_another_id_and_time_is_looked_up(fake, post, visitor):
    """Neither the id nor the moment is signed: somebody who overheard an event may send it as a new one."""
    browser = visitor()
    fake.open_link(browser.submission)
    event = events_of(fake, browser)[0]
    event["body"]["status"] = "RETURNED"  # as if they had returned a place and got it back
    assert post.bring(event, **{"X-Event-ID": "new", "X-Timestamp": str(int(time.time() + 9999))}) == 204
    webhooks.handle(post.provider)
    assert (browser.place.state, browser.place.remote_status) == ("working", "ACTIVE")


def test_an_event_dated_in_the_future_does_not_outweigh_what_prolific_says_later(
    fake, post, visitor, published, monkeypatch
):
    browser = visitor()
    monkeypatch.setattr("annotation.recruitment.prolific.connection._FIRST_PAUSE", 0.01)
    fake.fault("submission", "502", times=None)
    assert post.bring(events_of(fake, browser)[0], **{"X-Timestamp": str(int(time.time()) + 99999)}) == 204
    webhooks.handle(post.provider)
    fake.control("clear_faults")
    fake.give_back(browser.submission)
    reconcile.compare(published)
    assert (browser.place.state, browser.place.remote_status) == ("left", "RETURNED")


@pytest.mark.parametrize(("age", "status"), [(24.9 * 3600, 204), (25.1 * 3600, 403), (-600, 403)])
def test_events_older_than_a_day_and_from_the_future_are_refused(fake, post, visitor, age, status):
    event = events_of(fake, visitor())[0]
    assert post.bring(event, sent_at=time.time() - age) == status


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"X-Event-ID": ""}, 400),
        ({"X-Event-ID": "x" * 101}, 400),
        ({"X-Timestamp": "soon"}, 400),
        ({"X-Prolific-Request-Timestamp": "nan"}, 400),
        ({"body": "x" * 70_000}, 413),
    ],
)
def test_malformed_events_are_refused(fake, post, visitor, changes, status):
    assert post.bring(events_of(fake, visitor())[0], **changes) == status
    assert not PanelEvent.objects.exists()


@pytest.mark.parametrize("body", ["[]", "{", '{"event_type": "study.status.change"}', '{"event_type": 7}'])
def test_events_without_a_place_are_stored_and_done(fake, post, visitor, body):
    assert post.bring(events_of(fake, visitor())[0], body=body) == 204
    webhooks.handle(post.provider)
    assert PanelEvent.objects.get().handled_at is not None


def test_an_address_never_given_out_is_not_found(told, db):
    address = reverse("panel:events", args=["2b1c0c7e-3f0f-4c3a-8b0a-6f6b1d1c9a10"])
    assert Client().post(address, b"{}", content_type="application/json").status_code == 404
    assert Client().get(address).status_code == 405


def test_a_lost_secret_is_reported_and_replaced(fake, post, visitor, told, lead_client, settings):
    browser = visitor()
    lost = fake.control("lose_secret")["value"]  # somebody created another one at Prolific
    assert post.bring(events_of(fake, browser)[0], secret=lost) == 403
    address = page("panel", panel=told.pk)
    assert b"Events are not accepted" in lead_client.get(address).content
    settings.SITE_URL = SITE
    lead_client.post(page("panel_events", panel=told.pk))
    assert b"Events are not accepted" not in lead_client.get(address).content
    told.refresh_from_db()
    assert Post(told).bring(events_of(fake, browser)[0]) == 204
    assert len(fake.documents("subscription")) == 2  # one for each kind of event, for any number of calls


def test_panels_that_share_a_workspace_share_its_secret(fake, told, study, lead):
    other = Provider.objects.get(pk=told.pk)
    other.pk, other.name, other.events_id, other.secret_sealed = None, "Again", None, ""
    other.save()
    subscription.connect(provider=other, site=SITE, by=lead)
    assert access.unseal(Provider.objects.get(pk=told.pk).secret_sealed) == access.unseal(other.secret_sealed)


def test_an_event_of_one_workspace_reaches_no_place_of_another(post, visitor):
    browser = visitor()
    assert list(webhooks.places_of(post.provider, [browser.submission])) == [browser.place]
    post.provider.workspace = "another workspace"
    assert list(webhooks.places_of(post.provider, [browser.submission])) == []


def test_events_need_an_encrypted_address(fake, published, lead):
    with pytest.raises(DomainError, match="https"):
        subscription.connect(provider=published.provider, site="http://labels.example", by=lead)


def test_the_stand_in_sends_events_to_a_real_server(fake, told, published, live_server, lead, visitor):
    """Duplicates, forgeries, late and swapped events of the stand-in, over HTTP: each 2xx is stored once."""
    if connection.vendor == "sqlite":
        pytest.skip("another thread cannot write to a database in memory that a test writes to")
    fake.configure(hold_events=False, retry_seconds=0.1)
    for kind in ("duplicate", "late", "reordered", "forged"):
        fake.fault("event", kind, times=None, share=0.5, seconds=0.5)
    subscription.connect(provider=told, site=live_server.url.replace("localhost", "127.0.0.1"), by=lead)
    browsers = [visitor(f"person-{number}") for number in range(3)]
    fake.give_back(browsers[0].submission)
    fake.complete(browsers[1].submission, "X")
    address = reverse("panel:events", args=[told.events_id])
    end = time.monotonic() + 120
    ours = []
    while time.monotonic() < end:
        ours = [one for one in fake.documents("event") if live_server.url.rpartition(":")[2] in one["target"]]
        if len(ours) >= 8 and all(event["done"] for event in ours):
            break
        time.sleep(0.1)
    assert address
    acknowledged = {one["id"] for one in ours if any(200 <= status < 300 for status in one["statuses"])}
    assert acknowledged == {one["id"] for one in ours}
    assert set(PanelEvent.objects.values_list("event_id", flat=True)) == acknowledged
    webhooks.handle(told)
    states = [browser.place.remote_status for browser in browsers]
    assert states == ["RETURNED", "AWAITING REVIEW", "ACTIVE"]


test_the_stand_in_sends_events_to_a_real_server = pytest.mark.django_db(transaction=True)(
    test_the_stand_in_sends_events_to_a_real_server
)


def test_events_handled_long_ago_are_deleted(fake, post, visitor):
    post.bring(events_of(fake, visitor())[0])
    webhooks.handle(post.provider)
    webhooks.forget_old()
    assert PanelEvent.objects.count() == 1
    PanelEvent.objects.update(handled_at=timezone.now() - timedelta(days=15))
    webhooks.forget_old()
    assert PanelEvent.objects.count() == 0


def test_the_sweep_handles_leftover_events_and_due_comparisons(fake, post, visitor, published):
    from django.core.cache import cache

    post.bring(events_of(fake, visitor())[0])
    Job.objects.all().delete()
    cache.delete("annotation.recruitment.background.swept")
    background.sweep()
    assert set(Job.objects.values_list("kind", flat=True)) == {background.EVENTS, background.COMPARE}
    assert PanelPlace.objects.count() == 1
