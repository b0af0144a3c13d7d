"""Pages on which a lead changes a campaign: settings, extension, copies, texts for annotators."""

import pytest

from annotation.campaigns import lifecycle
from annotation.campaigns.instruments import versions
from annotation.kinds.options import Options
from annotation.kinds.registry import RATING_LABELS
from annotation.models import Campaign, Instrument
from tests.annotation.factories import new_annotator
from tests.web.markup import compact

pytestmark = pytest.mark.django_db
PAGE = "/studies/isles/campaigns/marking/"
SETTINGS = {
    "name": "Marking",
    "lease_minutes": "20",
    "tasks_per_day": "40",
    "sensitive_per_day": "",
    "edit_minutes": "30",
    "reopen_withdrawn": "on",
    "pay": "",
    "pay_amount": "12.5",
    "pay_currency": "eur",
    "pay_per": "hour",
    "notices": list(Options.default("notices")),
}


def test_a_lead_changes_settings_of_an_open_campaign(lead_client, marking, lead):
    lifecycle.change_settings(campaign=marking, by=lead, options={"gold_share": 0.1, "tasks_per_day": 10})
    page = lead_client.get(f"{PAGE}settings/").content.decode()
    assert "Fixed settings" in page
    assert "at most 3 attributes" in page
    answer = lead_client.post(f"{PAGE}settings/", SETTINGS)
    assert answer["Location"] == PAGE
    marking.refresh_from_db()
    # Options not on this page stay; default values are not stored.
    assert marking.options == {"gold_share": 0.1, "tasks_per_day": 40, "pay_amount": 12.5}
    assert marking.lease_minutes == 20
    assert "12.50 EUR per hour of active work" in lead_client.get(PAGE).content.decode()
    history = lead_client.get("/studies/isles/history/").content.decode()
    assert "tasks per day from 10 to 40" in history


def test_a_wrong_setting_is_shown_beside_its_field(lead_client, marking):
    answer = lead_client.post(f"{PAGE}settings/", SETTINGS | {"pay_currency": "x"})
    assert answer.status_code == 400
    assert "three capital letters" in answer.content.decode()
    marking.refresh_from_db()
    assert marking.options == {}


def test_a_draft_is_changed_in_its_form_and_not_in_the_settings(lead_client, draft):
    assert lead_client.get("/studies/isles/campaigns/drafted/settings/")["Location"].endswith(
        "/drafted/edit/"
    )


def test_a_draft_takes_the_same_options(lead_client, draft):
    url = "/studies/isles/campaigns/drafted/edit/"
    page = lead_client.get(url).content.decode()
    assert "Screens a day, at most" in page
    form = SETTINGS | {
        "kind": "stereotype_marking",
        "visual_source": "all",
        "random_per_stereotype": "1",
        "annotators_per_task": "3",
        "attributes_per_screen": "5",
        "guidelines": "Look.",
        "action": "save",
        "edit_minutes": "0",
    }
    assert lead_client.post(url, form).status_code == 302
    draft.refresh_from_db()
    assert (draft.options["tasks_per_day"], draft.options["edit_minutes"], draft.options["pay_amount"]) == (
        40,
        0,
        12.5,
    )
    assert "pay_currency" not in draft.options


def test_offensive_screens_of_a_rating_can_be_limited_as_those_of_a_marking(lead_client, rating):
    url = "/studies/isles/campaigns/ratings/settings/"
    assert "sensitive_per_day" in lead_client.get(url).content.decode()
    form = SETTINGS | {"name": rating.name, "sensitive_per_day": "5"}
    assert lead_client.post(url, form).status_code == 302
    rating.refresh_from_db()
    assert rating.options["sensitive_per_day"] == 5


def test_the_consequences_of_an_extension_are_shown_first(lead_client, marking):
    new_annotator(marking)
    page = lead_client.get(f"{PAGE}extend/?annotators_per_task=4").content.decode()
    assert "More answers</dt><dd>16" in page
    assert "More people are needed" in page
    marking.refresh_from_db()
    assert marking.annotators_per_task == 2
    lead_client.post(f"{PAGE}extend/", {"annotators_per_task": "4"})
    marking.refresh_from_db()
    assert marking.annotators_per_task == 4
    assert "from 2 to 4" in lead_client.get("/studies/isles/history/").content.decode()


def test_an_impossible_extension_says_why(lead_client, answered):
    page = lead_client.get(f"{PAGE}extend/?annotators_per_task=2").content.decode()
    assert "answered by 2 people already" in page
    assert "Ask 2 people" not in page
    assert lead_client.get(f"{PAGE}extend/?annotators_per_task=0").status_code == 400


def test_a_copy_links_to_its_original(lead_client, marking):
    page = lead_client.get(f"{PAGE}copy/").content.decode()
    assert 'value="Marking (copy)"' in page
    answer = lead_client.post(f"{PAGE}copy/", {"name": "Second round", "same_draw": "on"})
    copy = Campaign.objects.get(slug="second-round")
    assert answer["Location"].endswith("/second-round/")
    assert (copy.cloned_from, copy.seed) == (marking, marking.seed)
    lifecycle.open_(campaign=copy, by=None)
    page = compact(lead_client.get(answer["Location"]).content.decode())
    assert f'Copy of</dt><dd><a href="{PAGE}">Marking' in page


def test_closing_early_shows_what_is_missing(lead_client, answered):
    page = lead_client.get(f"{PAGE}close/confirm/").content.decode()
    assert "screens do not have all answers" in " ".join(page.split())
    assert "Results use the existing answers" in page


def test_texts_for_annotators_are_changed_and_their_versions_shown(lead_client, answered):
    now = versions.current(answered)
    form = {"statement": "What is shown?", "guidelines": now.guidelines.replace("\n", "\r\n")}
    answer = lead_client.post(f"{PAGE}guidelines/change/", form)
    assert answer["Location"] == f"{PAGE}guidelines/"
    made = Instrument.objects.get(version=2)
    assert (made.statement, made.guidelines) == ("What is shown?", now.guidelines)
    page = lead_client.get(f"{PAGE}guidelines/").content.decode()
    assert "Now: version 2" in page
    assert "by Lena · 4 answers" in page
    assert "<ins>What is shown?</ins>" in compact(page)


def test_a_rating_s_labels_are_changed(lead_client, rating):
    now = versions.current(rating)
    form = {"statement": now.statement, "guidelines": now.guidelines}
    form |= {f"label_{key}": text for key, text in RATING_LABELS.items()} | {"label_3": "Cannot say"}
    lead_client.post("/studies/isles/campaigns/ratings/guidelines/change/", form)
    assert Instrument.objects.get(version=2).labels["3"] == "Cannot say"
    wrong = lead_client.post(
        "/studies/isles/campaigns/ratings/guidelines/change/", form | {"label_4": "Cannot say"}
    )
    assert wrong.status_code == 400
    assert "cannot have the same label" in wrong.content.decode()


@pytest.mark.parametrize("path", ["settings/", "extend/", "copy/", "guidelines/change/"])
def test_only_leads_change_a_campaign(
    answered, lead_client, analyst_client, stranger_client, annotator_client, path
):
    clients = (lead_client, analyst_client, stranger_client, annotator_client)
    assert [client.get(PAGE + path).status_code for client in clients] == [200, 403, 404, 404]
    others = (analyst_client, stranger_client, annotator_client)
    assert [client.post(PAGE + path, SETTINGS).status_code for client in others] == [403, 404, 404]


def test_members_read_the_versions_and_strangers_do_not(answered, analyst_client, stranger_client):
    page = analyst_client.get(f"{PAGE}guidelines/")
    assert page.status_code == 200
    assert "Change the texts" not in page.content.decode()
    assert stranger_client.get(f"{PAGE}guidelines/").status_code == 404


def test_imported_labels_have_nothing_to_change(answered, lead_client):
    Campaign.objects.update(imported=True, state="closed")
    for path in ("settings/", "extend/", "copy/"):
        assert lead_client.get(PAGE + path).status_code == 404
    assert "settings/" not in lead_client.get(PAGE).content.decode()
