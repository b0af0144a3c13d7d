"""Changing campaigns over HTTP."""

import pytest

from annotation.models import Campaign, Instrument
from tests.annotation.api.test_labelling import Browser

pytestmark = pytest.mark.django_db


@pytest.fixture
def manager(lead):
    return Browser(lead, ["manage", "read"])


def patch(browser, url, data):
    return browser.client.patch(f"/api/v1/{url}", data, content_type="application/json")


def test_settings_change_and_the_rest_is_refused(marking, manager):
    answer = patch(
        manager, f"campaigns/{marking.pk}/", {"lease_minutes": 5, "options": {"pay_amount": 9, "pay": None}}
    )
    assert (answer.status_code, answer.json()["lease_minutes"], answer.json()["options"]) == (
        200,
        5,
        {"pay_amount": 9},
    )
    refused = patch(manager, f"campaigns/{marking.pk}/", {"kind": "attribute_likert"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "field_unknown")
    refused = patch(manager, f"campaigns/{marking.pk}/", {"options": {"condition": "target"}})
    assert refused.json()["error"]["code"] == "settings_fixed"


def test_a_campaign_is_extended_and_copied(marking, manager):
    extended = manager.post(f"campaigns/{marking.pk}/extend", {"annotators_per_task": 3})
    assert (extended.status_code, extended.json()["annotators_per_task"]) == (200, 3)
    refused = manager.post(f"campaigns/{marking.pk}/extend", {"annotators_per_task": 0})
    assert refused.status_code == 400
    copy = manager.post(f"campaigns/{marking.pk}/copies", {"name": "Again", "same_draw": True})
    assert copy.status_code == 201
    made = copy.json()
    assert (made["state"], made["cloned_from"], made["seed"]) == ("draft", marking.pk, marking.seed)
    assert made["annotators_per_task"] == 3


def test_texts_for_annotators_are_revised(marking, manager):
    made = manager.post(f"campaigns/{marking.pk}/instruments", {"guidelines": "Look."})
    assert (made.status_code, made.json()["version"], made.json()["annotations"]) == (201, 2, 0)
    listed = manager.get(f"campaigns/{marking.pk}/instruments").json()
    assert [one["version"] for one in listed] == [2, 1]
    assert Instrument.objects.get(version=2).guidelines == "Look."


def test_analysts_only_read_and_strangers_get_404(marking, analyst, stranger):
    member, outside = Browser(analyst, ["manage", "read"]), Browser(stranger, ["manage", "read"])
    for browser, seen, changed in ((member, 200, 403), (outside, 404, 404)):
        assert browser.get(f"campaigns/{marking.pk}/instruments").status_code == seen
        assert patch(browser, f"campaigns/{marking.pk}/", {"name": "Mine"}).status_code == changed
        for path, data in (
            ("extend", {"annotators_per_task": 5}),
            ("copies", {}),
            ("instruments", {"guidelines": "No."}),
        ):
            assert browser.post(f"campaigns/{marking.pk}/{path}", data).status_code == changed
    marking.refresh_from_db()
    assert (marking.name, marking.annotators_per_task) == ("Marking", 2)
    assert (Campaign.objects.count(), Instrument.objects.count()) == (1, 1)
