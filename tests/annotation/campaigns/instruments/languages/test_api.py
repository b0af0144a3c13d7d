"""Languages and translations over HTTP."""

import json

from tests.annotation.campaigns.instruments.languages.conftest import as_file, exported, filled


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


def test_the_file_goes_out_and_comes_back(draft, lead_client):
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
