"""From the invitation to the first task."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts import consent_texts
from accounts.models import AnnotatorProfile, Consent, User
from annotation.campaigns import lifecycle
from annotation.models import Assignment, Enrolment, QuotaRule
from annotation.people import invitations
from studies import consent
from tests.annotation.kinds.examples import PAIRWISE, question_campaign

FIELDS = {"gender", "region_of_origin", "nationality", "country_of_residence", "age_band", "languages"}


def invite(campaign, **options) -> str:
    _, token = invitations.invite(campaign=campaign, by=None, **options)
    return reverse("annotate:invitation", args=[token])


def test_opening_an_invitation_does_not_use_it_up(client, marking):
    address = invite(marking)
    for _ in range(3):
        assert client.get(address).status_code == 200
    assert not Enrolment.objects.exists()
    assert "sessionid" not in client.cookies
    assert "stereoscope_session" not in client.cookies


def test_the_invitation_explains_purpose_duration_and_the_right_to_stop(client, marking):
    marking.options = {**marking.options, "pay": "12 euros an hour."}
    marking.save()
    page = client.get(invite(marking)).content.decode()
    for words in (
        "What will I see?",
        "prejudices",
        "How long",
        "12 euros an hour.",
        "Can I stop?",
        "Number of tasks: at most 6",
    ):
        assert words in page


def test_start_signs_a_new_annotator_in_and_asks_for_consent_first(client, marking):
    answer = client.post(invite(marking))
    enrolment = Enrolment.objects.get()
    assert answer.url == reverse("annotate:consent", args=[marking.pk])
    assert client.session["_auth_user_id"] == str(enrolment.annotator.user_id)
    assert not enrolment.annotator.user.has_usable_password()
    assert enrolment.joined_print


def test_no_task_and_no_picture_before_consent(join, marking):
    client = join(marking, ready=False)
    answer = client.get(reverse("annotate:task", args=[marking.pk]))
    assert answer.url == reverse("annotate:consent", args=[marking.pk])
    assert not Assignment.objects.exists()
    assert b"<img" not in client.get(answer.url).content


def test_consent_is_to_the_version_that_was_read(join, marking):
    client = join(marking, ready=False)
    address = reverse("annotate:consent", args=[marking.pk])
    read = client.get(address).context["text"]
    consent_texts.publish(series="default", body="Something new.", content_notice="Careful.")
    answer = client.post(address, {"text": read.pk})
    assert answer.status_code == 409
    assert "has just changed" in answer.content.decode()
    assert not Consent.objects.exists()
    client.post(address, {"text": consent.current_text(marking.study).pk})
    assert Consent.objects.get().text.version == 2


def test_after_consent_comes_about_you_then_the_link_then_the_task(client, marking):
    client.post(invite(marking))
    answer = client.post(
        reverse("annotate:consent", args=[marking.pk]), {"text": consent.current_text(marking.study).pk}
    )
    assert answer.url == reverse("annotate:profile", args=[marking.pk])
    answer = client.post(answer.url, {"gender": "Woman", "languages": "Quechua, Spanish"})
    assert answer.url == reverse("annotate:link", args=[marking.pk])
    assert AnnotatorProfile.objects.get().languages == ["qu", "es"]
    assert "/annotate/i/" in client.get(answer.url).content.decode()
    assert client.get(reverse("annotate:task", args=[marking.pk])).status_code == 200


def test_a_profile_answer_that_rules_cannot_read_is_shown_once_more(join, marking):
    """The input is kept, and a second press continues."""
    client = join(marking, ready=False)
    page = reverse("annotate:profile", args=[marking.pk])
    rule = {"kind": "at_least", "field": "gender", "k": 1, "values": ["woman"]}
    QuotaRule.objects.create(campaign=marking, **rule)
    assert client.post(page, {"nationality": "half Velmari"}).status_code == 302
    shown = client.post(page, {"gender": "not a man"})
    assert shown.status_code == 200
    content = shown.content.decode()
    assert "One answer could not be understood" in content
    assert "If one of the suggestions fits, choose it." in content
    assert 'value="not a man"' in content
    assert AnnotatorProfile.objects.get().gender == ""
    assert client.post(page, {"gender": "not a man", "seen": "1"}).status_code == 302
    assert client.post(page, {"gender": "woman"}).status_code == 302


def test_about_you_can_be_skipped_and_is_not_shown_again(join, marking):
    client = join(marking, ready=False)
    consent.give(annotator=client.enrolment.annotator, text=consent.current_text(marking.study))
    page = reverse("annotate:profile", args=[marking.pk])
    assert set(client.get(page).context["form"].fields) == FIELDS
    assert client.post(page, {"skip": "1", "gender": "typed but not meant"}).status_code == 302
    assert AnnotatorProfile.objects.get().gender == ""
    assert client.get(reverse("annotate:task", args=[marking.pk])).status_code == 200


def test_skipping_later_keeps_the_earlier_answers(join, marking):
    client = join(marking)
    client.post(reverse("annotate:profile"), {"gender": "Woman"})
    client.post(reverse("annotate:profile", args=[marking.pk]), {"skip": "1"})
    assert AnnotatorProfile.objects.get().gender == "woman"


def test_an_invalid_profile_names_the_field(join, marking):
    client = join(marking)
    answer = client.post(reverse("annotate:profile"), {"age_band": "12-14"})
    assert answer.status_code == 400
    assert list(answer.context["form"].errors) == ["age_band"]


def test_a_personal_link_is_shown_to_keep_and_resumes_the_same_person_elsewhere(join, marking):
    client = join(marking)
    shown = client.get(reverse("annotate:link", args=[marking.pk])).content.decode()
    address = reverse("annotate:invitation", args=[client.token])
    assert address in shown
    elsewhere = Client()
    answer = elsewhere.post(address)
    assert answer.url == reverse("annotate:task", args=[marking.pk])
    assert Enrolment.objects.count() == 1


def test_a_batch_link_gives_each_person_a_return_link_of_their_own(marking):
    address = invite(marking, limit=5)
    client = Client()
    client.post(address)
    kept = client.session["annotate_return_link"]["address"]
    assert address not in kept
    elsewhere = Client()
    elsewhere.post(kept)
    assert Enrolment.objects.count() == 1
    assert elsewhere.session["_auth_user_id"] == client.session["_auth_user_id"]


def test_reopening_the_batch_link_in_the_same_browser_creates_nobody(marking):
    address = invite(marking, limit=5)
    client = Client()
    client.post(address)
    client.post(address)
    assert Enrolment.objects.count() == 1
    assert User.objects.filter(annotator__isnull=False).count() == 1


def test_the_server_deletes_the_stored_link_once_work_begins(join, marking):
    client = join(marking)
    client.get(reverse("annotate:task", args=[marking.pk]))
    assert client.token not in client.get(reverse("annotate:link", args=[marking.pk])).content.decode()


def test_a_new_return_link_replaces_the_one_before(join, marking):
    client = join(marking)
    made = reverse("annotate:make_link", args=[marking.pk])
    assert client.get(made).status_code == 405
    addresses = []
    for _ in range(2):
        client.post(made)
        addresses.append(client.session["annotate_return_link"]["address"])
    assert Client().get(addresses[0]).status_code == 409
    assert Client().get(addresses[1]).status_code == 200


@pytest.mark.parametrize("what", ["unknown", "revoked", "expired", "used_up", "closed"])
def test_a_link_that_does_not_work_says_why_and_whom_to_ask(client, lead, marking, what):
    if what == "unknown":
        address = reverse("annotate:invitation", args=["no-such-token"])
    else:
        invitation, token = invitations.invite(campaign=marking, by=lead, limit=1 + (what != "used_up"))
        address = reverse("annotate:invitation", args=[token])
        if what == "revoked":
            invitations.revoke(invitation=invitation, by=lead)
        elif what == "expired":
            invitation.expires_at = timezone.now() - timedelta(minutes=1)
            invitation.save()
        elif what == "used_up":
            invitation.limit = 2
            invitation.save()
            for _ in range(2):
                Client().post(address)
        else:
            lifecycle.close(campaign=marking, by=lead)
    for method in (client.get, client.post):
        answer = method(address)
        assert answer.status_code == (404 if what == "unknown" else 409)
        assert "Ask the person who sent you" in answer.content.decode()


def test_somebody_signed_in_as_lead_is_warned_that_answers_become_theirs(lead_client, marking):
    assert "You are signed in as" in lead_client.get(invite(marking)).content.decode()


def test_nobody_reaches_pages_of_a_campaign_they_were_not_invited_to(join, marking, rating, client):
    annotator = join(marking)
    for name in ("task", "consent", "profile", "link", "done", "withdraw", "previous"):
        address = reverse(f"annotate:{name}", args=[rating.pk])
        if name != "profile":  # about oneself, whatever the campaign
            assert annotator.get(address).status_code == 404, name
        assert client.get(address).url.startswith(reverse("accounts:sign_in")), name


def test_the_personal_link_of_another_offers_to_sign_out_and_come_back_to_it(join, marking):
    mine, theirs = join(marking), join(marking)
    address = reverse("annotate:invitation", args=[theirs.token])
    answer = mine.post(address)
    assert answer.status_code == 409
    assert "Sign out and open the link" in answer.content.decode()
    answer = mine.post(reverse("accounts:sign_out"), {"next": address})
    assert answer.url == address
    mine.post(address)
    assert mine.session["_auth_user_id"] == str(theirs.enrolment.annotator.user_id)


def test_another_persons_unused_link_is_not_stored_as_the_own_one(join, marking):
    client = join(marking)
    unused = invite(marking)
    client.post(unused)
    assert unused not in client.session["annotate_return_link"]["address"]
    Client().post(unused)
    assert Enrolment.objects.count() == 2


def test_an_invitation_lists_the_questions(client, study, pictures):
    campaign = question_campaign(study, PAIRWISE)
    page = client.get(invite(campaign)).content.decode()
    assert "You are invited: Looking at pictures" in page
    assert "You look at pictures made by computer programs" in page
    for question in PAIRWISE.questions:
        assert f"<li>{question.label['en']}</li>" in page
    assert "tick which of up to five words" not in page
    german = client.get(invite(campaign), headers={"accept-language": "de"}).content.decode()
    assert f"<li>{PAIRWISE.questions[0].label['de']}</li>" in german


def test_pictures_that_are_asked_about_can_be_blurred_from_the_start(client, study, pictures):
    campaign = question_campaign(study, PAIRWISE)
    client.post(invite(campaign))
    page = client.get(reverse("annotate:consent", args=[campaign.pk])).content.decode()
    assert 'name="blur"' in page
