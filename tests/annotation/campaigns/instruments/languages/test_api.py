"""Languages and translations over HTTP."""

import json
from io import StringIO

from django.core.management import call_command

from annotation.campaigns import lifecycle
from annotation.models import Campaign
from studies.models import Study
from tests.annotation.campaigns.instruments.languages.conftest import as_file, exported, filled, put


def test_languages_are_read_and_added(draft, lead_client):
    address = f"/api/v1/campaigns/{draft.pk}/languages"
    english, german = lead_client.get(address).json()
    assert (english["language"], english["complete"]) == ("en", True)
    assert (german["language"], german["complete"], german["offered"]) == ("de", False, False)
    body = json.dumps({"language": "de", "untranslated_reason": "Names stay."})
    added = lead_client.post(address, body, content_type="application/json")
    assert added.status_code == 201
    assert added.json()[1]["untranslated_reason"] == "Names stay."
    wrong = lead_client.post(address, json.dumps({"language": "xx"}), content_type="application/json")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (400, "language_unknown")


def test_the_file_is_downloaded_and_uploaded(draft, lead_client):
    address = f"/api/v1/campaigns/{draft.pk}/translations"
    content = lead_client.get(address).content
    assert content.startswith(b"\xef\xbb\xbfkey,place,source,digest,de")
    sent = as_file(filled(draft, "de")).getvalue()
    stored = lead_client.put(address, sent, content_type="text/csv")
    assert stored.json() == {"changed": {"de": len(exported(draft))}, "outdated": 0}
    refused = lead_client.put(address, b"key,digest,fr\n", content_type="text/csv")
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "translations_invalid")
    assert lead_client.put(address, b"{}", content_type="application/json").status_code == 400


def test_only_leads_change_translations(draft, analyst_client, stranger_client):
    address = f"/api/v1/campaigns/{draft.pk}/translations"
    assert analyst_client.get(address).status_code == 200
    assert analyst_client.put(address, b"key", content_type="text/csv").status_code == 403
    assert stranger_client.get(address).status_code == 404
    assert stranger_client.put(address, b"key", content_type="text/csv").status_code == 404


def test_a_program_opens_no_campaign_in_which_a_language_lacks_texts(draft, lead_client):
    Study.objects.update(simulated=False)
    address = f"/api/v1/campaigns/{draft.pk}/open"
    refused = lead_client.post(address)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "languages_incomplete")
    assert "German: of" in refused.json()["error"]["message"]
    put(draft, filled(draft, "de"))
    assert lead_client.post(address).json()["state"] == "open"
    draft.refresh_from_db()
    assert draft.offered_languages == ["en", "de"]


def test_without_a_language_a_program_opens_a_campaign_in_english(study, lead, lead_client):
    Study.objects.update(simulated=False)
    campaign = lifecycle.create(study=study, name="Words", kind="attribute_likert", by=lead)
    assert lead_client.post(f"/api/v1/campaigns/{campaign.pk}/open").json()["state"] == "open"
    call_command(
        "open_campaign", study="isles", kind="attribute_likert", name="More words", stdout=StringIO()
    )
    assert [one.offered_languages for one in Campaign.objects.order_by("pk")] == [["en"], ["en"]]
