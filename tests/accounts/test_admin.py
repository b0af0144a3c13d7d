"""What an operator can do on the admin site."""

import pytest
from django.test import Client
from django.urls import reverse

from accounts import consent_texts, tokens
from accounts.models import ConsentText, User


@pytest.fixture
def admin_client(db) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("ada", password="a long password"))
    return client


@pytest.mark.parametrize("model", ["user", "annotator", "apitoken", "consenttext"])
def test_every_list_opens_with_something_in_it(admin_client, annotator, lead, model):
    tokens.issue(user=lead, name="export", scopes=["read"])
    consent_texts.default_text()
    assert admin_client.get(reverse(f"admin:accounts_{model}_changelist")).status_code == 200


def test_an_operator_makes_somebody_a_lead(admin_client):
    answer = admin_client.post(
        reverse("admin:accounts_user_add"),
        {
            "username": "new",
            "usable_password": "true",
            "password1": "quite a long one",
            "password2": "quite a long one",
            "display_name": "New",
            "is_lead": "on",
        },
    )
    assert answer.status_code == 302
    made = User.objects.get(username="new")
    assert made.leads
    assert admin_client.get(reverse("admin:accounts_user_change", args=[made.pk])).status_code == 200


def test_publishing_a_consent_text_makes_the_next_version_and_no_published_one_can_be_changed(admin_client):
    first = consent_texts.default_text()
    answer = admin_client.post(
        reverse("admin:accounts_consenttext_add"),
        {
            "series": "default",
            "language": "en",
            "body": "New.",
            "content_notice": "Careful.",
            "support": "",
            "labels_when_erased": "delete",
        },
    )
    assert answer.status_code == 302
    assert list(ConsentText.objects.filter(language="en").values_list("version", flat=True)) == [2, 1]
    change = reverse("admin:accounts_consenttext_change", args=[first.pk])
    assert admin_client.post(change, {"body": "Changed."}).status_code == 403


def test_an_operator_revokes_a_token_and_cannot_read_its_key(admin_client, lead):
    token, key = tokens.issue(user=lead, name="export", scopes=["read"])
    listed = reverse("admin:accounts_apitoken_changelist")
    shown = admin_client.get(reverse("admin:accounts_apitoken_change", args=[token.pk])).content.decode()
    assert key not in shown
    assert token.key_hash not in shown
    admin_client.post(listed, {"action": "revoke", "_selected_action": [token.pk]})
    assert tokens.find(key) is None
