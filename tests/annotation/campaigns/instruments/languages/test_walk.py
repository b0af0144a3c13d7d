"""From the invitation to answers in three languages: no text is in another one; answers store their language."""

import json

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts import profiles
from annotation.answers.languages import language_of
from annotation.campaigns import known_tasks, lifecycle
from annotation.campaigns.instruments.languages import translations
from annotation.models import Annotation, Campaign, Enrolment
from annotation.people import invitations
from catalog.models import Attribute
from studies import consent
from tests.annotation.campaigns.instruments.languages.conftest import exported, filled, put

THREE = [("en", "English"), ("de", "Deutsch"), ("es", "Español")]


@pytest.fixture
def three(study, lead, settings) -> Campaign:
    """An open rating campaign in English, German and Spanish, with practice and pay."""
    settings.LANGUAGES = THREE
    draft = lifecycle.create(
        study=study,
        name="Words",
        kind="attribute_likert",
        by=lead,
        options={"pay": "You get 5 shells.", "practice_pass_mark": 0.0},
    )
    hat = Attribute.objects.get(text="tall hat")
    known_tasks.add(
        campaign=draft,
        purpose="practice",
        by=lead,
        content=known_tasks.TaskContent(image=None, attributes=[hat]),
        answers={hat: [5]},
        explanations={hat: "A hat can be drawn."},
    )
    for language in ("de", "es"):
        translations.add_language(campaign=draft, language=language, by=lead)
    put(draft, filled(draft, "de", "es"), by=lead)
    return lifecycle.open_(campaign=draft, by=lead)


def texts_in(campaign: Campaign) -> list[str]:
    """Return the English texts that no page in another language may contain."""
    return [row["source"] for row in exported(campaign)]


def choose(client: Client, language: str) -> None:
    client.post("/language/", {"language": language, "next": "/annotate/"})


def pages_of(client: Client, campaign: Campaign, language: str) -> list[str]:
    """Walk from the invitation to the end; return the pages read on the way."""
    _, token = invitations.invite(campaign=campaign, by=None)
    invitation = f"/annotate/i/{token}/"
    choose(client, language)
    read = [client.get(invitation).text]
    consent_page = client.post(invitation, follow=True)
    read.append(consent_page.text)
    shown = consent_page.context["text"]
    agreed = client.post(f"/annotate/{campaign.pk}/consent/", {"text": shown.pk})
    assert agreed.status_code == 302
    enrolment = campaign.enrolments.latest("pk")
    profiles.describe(annotator=enrolment.annotator)
    practice = client.post(f"/annotate/{campaign.pk}/practice/", follow=True)
    read.append(practice.text)
    task = practice.context["payload"]["task"]
    feedback = client.post(
        f"/annotate/{campaign.pk}/practice/answer/{task}/", {"rating": "1", "answer": ""}, follow=True
    )
    read.append(feedback.text)
    for _ in range(2):
        page = client.get(f"/annotate/{campaign.pk}/")
        read.append(page.text)
        payload = page.context["payload"]
        answered = client.post(
            f"/annotate/{campaign.pk}/answer/{payload['assignment']}/",
            {"rating": "5", "submission_id": str(page.context["submission_id"])},
        )
        assert answered.status_code == 302
    own_pages = [f"/annotate/{campaign.pk}/{page}/" for page in ("done", "answers")]
    return read + [client.get(page).text for page in [*own_pages, "/annotate/time-and-pay/"]]


@pytest.mark.parametrize("language", ["de", "es"])
def test_readers_of_a_language_see_no_text_of_the_campaign_in_another(three, language):
    client = Client()
    read = pages_of(client, three, language)
    for text in texts_in(three):
        for page in read:
            bare = page.replace(f"[{language}] ", "\0")
            for line in filter(None, text.splitlines()):
                assert f">{line}<" not in bare, line
    assert sum(f"[{language}]" in page for page in read) >= 7
    assert f"[{language}] A hat can be drawn." in read[3]
    enrolment = three.enrolments.latest("pk")
    assert enrolment.language == language
    answers = Annotation.objects.filter(annotator=enrolment.annotator)
    assert set(answers.values_list("language", flat=True)) == {language}
    given = enrolment.annotator.consents.get()
    assert given.text == consent.current_text(three.study)
    assert (given.translation.language, given.translation.version) == (language, 1)


def test_english_is_read_and_kept_as_before(three):
    client = Client()
    read = pages_of(client, three, "en")
    assert not any("[de]" in page or "[es]" in page for page in read)
    enrolment = three.enrolments.latest("pk")
    assert enrolment.annotator.consents.get().translation is None
    assert set(Annotation.objects.values_list("language", flat=True)) == {"en"}


def test_a_language_that_is_not_offered_is_not_shown(study, lead):
    draft = lifecycle.create(study=study, name="Words", kind="attribute_likert", by=lead)
    translations.add_language(campaign=draft, language="de", by=lead)
    opened = lifecycle.open_(campaign=draft, by=lead)
    client = Client()
    _, token = invitations.invite(campaign=opened, by=None)
    choose(client, "de")
    page = client.get(f"/annotate/i/{token}/").text
    assert '<html lang="en"' in page
    assert "Deutsch" not in page


def joined(campaign: Campaign, language: str) -> Client:
    client = Client()
    _, token = invitations.invite(campaign=campaign, by=None)
    choose(client, language)
    page = client.post(f"/annotate/i/{token}/", follow=True)
    client.post(f"/annotate/{campaign.pk}/consent/", {"text": page.context["text"].pk})
    client.enrolment = campaign.enrolments.latest("pk")
    profiles.describe(annotator=client.enrolment.annotator)
    return client


@pytest.fixture
def plain(three) -> Campaign:
    """The same campaign without practice."""
    three.tasks.filter(purpose="practice").update(withdrawn=True)
    return three


def test_the_language_stays_whatever_the_browser_says_later(plain):
    client = joined(plain, "de")
    choose(client, "es")
    page = client.get(f"/annotate/{plain.pk}/", headers={"accept-language": "es"})
    assert page.context["payload"]["instrument"]["statement"].startswith("[de]")
    assert '<html lang="de"' in page.text


def test_the_language_is_changed_in_a_separate_step(plain):
    client = joined(plain, "de")
    first = client.get(f"/annotate/{plain.pk}/").context
    client.post(
        f"/annotate/{plain.pk}/answer/{first['payload']['assignment']}/",
        {"rating": "5", "submission_id": str(first["submission_id"])},
    )
    address = f"/annotate/{plain.pk}/language/"
    assert "Español" in client.get(address).text
    assert client.post(address, {"language": "fr"}).status_code == 400
    assert client.post(address, {"language": "es"}).status_code == 302
    page = client.get(f"/annotate/{plain.pk}/")
    assert page.context["payload"]["instrument"]["statement"].startswith("[es]")
    assert page.context["text"].language == "es"
    client.post(
        f"/annotate/{plain.pk}/answer/{page.context['payload']['assignment']}/",
        {"rating": "5", "submission_id": str(page.context["submission_id"])},
    )
    assert list(Annotation.objects.order_by("pk").values_list("language", flat=True)) == ["de", "es"]


def test_nobody_changes_the_language_of_another(plain):
    joined(plain, "de")
    stranger = Client()
    assert stranger.post(f"/annotate/{plain.pk}/language/", {"language": "es"}).status_code == 302
    assert Enrolment.objects.get().language == "de"


def test_the_api_gives_and_keeps_the_language_that_was_chosen(plain):
    client = joined(plain, "de")
    leased = client.post(f"/api/v1/campaigns/{plain.pk}/next", headers={"accept-language": "en"}).json()
    assert leased["attributes"][0]["text"].startswith("[de]")
    sent = {
        "submission_id": "6d0e4a9c-27f5-4c9e-9d64-5d0f6f3f9a11",
        "answer": {"rating": 4},
        "instrument_version": leased["instrument"]["version"],
    }
    answered = client.post(
        f"/api/v1/assignments/{leased['assignment']}/submit",
        json.dumps(sent),
        content_type="application/json",
        headers={"accept-language": "en"},
    ).json()
    assert answered["next"]["attributes"][0]["text"].startswith("[de]")
    assert answered["next"]["instrument"]["labels"]["5"].startswith("[de]")
    assert Annotation.objects.get().language == "de"


def test_a_new_consent_text_is_read_in_one_language(plain, study, lead):
    client = joined(plain, "de")
    consent.publish_consent(study=study, body="Another text.", content_notice="Careful.", by=lead)
    page = client.get(f"/annotate/{plain.pk}/", follow=True)
    assert page.context["text"].body == "Another text."
    assert '<html lang="en"' in page.text
    assert "Bevor" not in page.text


def test_languages_add_no_query_to_the_task_page(plain):
    english, german = joined(plain, "en"), joined(plain, "de")
    counts = []
    for client in (english, german):
        client.get(f"/annotate/{plain.pk}/")
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/annotate/{plain.pk}/")
        counts.append(len(queries))
    # The translation of the consent text, whose support part is on the page.
    assert counts[1] == counts[0] + 1


@pytest.mark.parametrize(
    ("chosen", "offered", "read"),
    [
        (None, None, "en"),
        ("de", None, "de"),
        ("de", ["en", "de"], "de"),
        ("de", ["en"], "en"),
        (None, ["en"], "en"),
        ("fr", ["en", "de"], "en"),
    ],
)
def test_the_language_of_a_reader(chosen, offered, read):
    assert language_of(chosen, offered) == read
