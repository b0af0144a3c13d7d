"""The page of a campaign's languages, and the file in its form."""

from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.campaigns.instruments.languages.progress import language_states
from tests.annotation.campaigns.instruments.languages.conftest import as_file, filled

PLACE = {"study": "isles", "campaign": "words"}


def test_a_lead_adds_fills_in_and_uploads(draft, lead_client):
    page = reverse("annotation:languages", kwargs=PLACE)
    shown = lead_client.get(page)
    assert shown.status_code == 200
    assert "German" in shown.text
    assert "incomplete" in shown.text
    file = lead_client.get(reverse("annotation:translations_file", kwargs=PLACE))
    assert file.content.startswith(b"\xef\xbb\xbfkey,")
    refused = lead_client.post(page, {"file": SimpleUploadedFile("t.csv", b"key,digest,fr\n")})
    assert refused.status_code == 400
    assert "no language" in refused.text
    content = as_file(filled(draft, "de")).getvalue()
    stored = lead_client.post(page, {"file": SimpleUploadedFile("t.csv", content)}, follow=True)
    assert "Texts stored" in stored.text
    assert language_states(draft)[0].complete


def test_a_warning_precedes_leaving_texts_in_english(draft, lead_client):
    page = reverse("annotation:language_untranslated", kwargs=PLACE | {"language": "de"})
    assert "Screens in two languages" in lead_client.get(page).text
    assert lead_client.post(page, {"reason": ""}).status_code == 400
    assert "Annotators can choose German" in lead_client.post(page, {"reason": "Names."}, follow=True).text
    removed = reverse("annotation:language_remove", kwargs=PLACE | {"language": "de"})
    assert "German is removed" in lead_client.post(removed, follow=True).text
