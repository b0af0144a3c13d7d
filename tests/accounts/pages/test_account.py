"""Signing in and out, passwords and API tokens, through the pages."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts import tokens
from accounts.models import ApiToken

TOKENS = reverse("accounts:create_token")


def make_token(client, **changes):
    return client.post(TOKENS, {"name": "export", "scopes": ["read"], "expires_on": "", **changes})


def test_a_wrong_password_is_answered_with_a_sentence(client, lead):
    answer = client.post(reverse("accounts:sign_in"), {"username": "lena", "password": "wrong"})
    assert answer.status_code == 200
    assert "correct username and password" in answer.content.decode()


def test_a_wrong_password_is_answered_in_the_language_of_the_page(client, lead):
    answer = client.post(
        reverse("accounts:sign_in"),
        {"username": "lena", "password": "wrong"},
        headers={"accept-language": "es"},
    )
    assert "Please enter" not in answer.content.decode()
    assert "contraseña" in answer.content.decode()


def test_signing_in_leads_to_the_requested_page(client, lead):
    target = reverse("accounts:password")
    answer = client.post(
        reverse("accounts:sign_in"), {"username": "lena", "password": "a long password", "next": target}
    )
    assert (answer.status_code, answer.url) == (302, target)


def test_signing_in_never_leads_to_another_site(client, lead):
    answer = client.post(
        reverse("accounts:sign_in"),
        {"username": "lena", "password": "a long password", "next": "https://elsewhere.example/"},
    )
    assert answer.url == reverse("home")


def test_signing_out_needs_a_post(lead_client):
    assert lead_client.get(reverse("accounts:sign_out")).status_code == 405
    lead_client.post(reverse("accounts:sign_out"))
    assert lead_client.get(reverse("accounts:profile")).status_code == 302


def test_the_key_of_a_new_token_is_shown_once_and_works(lead_client, lead):
    answer = make_token(lead_client, scopes=["read", "annotate"])
    key = answer.context["new_key"]
    assert key in answer.content.decode()
    assert "no-store" in answer.headers["Cache-Control"]
    assert tokens.find(key).scopes == ["annotate", "read"]
    assert key not in lead_client.get(reverse("accounts:profile")).content.decode()


def test_reloading_the_page_that_shows_a_key_makes_no_second_token(lead_client):
    make_token(lead_client)
    answer = make_token(lead_client)
    assert answer.status_code == 400
    assert "You already have a token of this name" in answer.content.decode()
    assert ApiToken.objects.count() == 1


def test_a_token_works_through_the_last_day_named(lead_client):
    today = timezone.localdate()
    make_token(lead_client, expires_on=today.isoformat())
    assert ApiToken.objects.get().expires_at > timezone.now()
    answer = make_token(lead_client, name="late", expires_on=(today - timedelta(days=1)).isoformat())
    assert "This day is in the past" in answer.content.decode()


@pytest.mark.parametrize("changes", [{"name": " "}, {"scopes": []}, {"scopes": ["everything"]}])
def test_a_token_without_name_or_known_scope_is_refused(lead_client, changes):
    assert make_token(lead_client, **changes).status_code == 400
    assert not ApiToken.objects.exists()


def test_a_revoked_token_works_no_longer_and_leaves_the_list(lead_client):
    key = make_token(lead_client).context["new_key"]
    token = ApiToken.objects.get()
    answer = lead_client.post(reverse("accounts:revoke_token", args=[token.prefix]), follow=True)
    assert "is revoked" in answer.content.decode()
    assert tokens.find(key) is None
    assert token not in answer.context["tokens"]


def test_nobody_revokes_the_token_of_another(lead_client, stranger_client):
    make_token(lead_client)
    token = ApiToken.objects.get()
    assert stranger_client.post(reverse("accounts:revoke_token", args=[token.prefix])).status_code == 404
    token.refresh_from_db()
    assert token.revoked_at is None


def test_changing_the_password_keeps_this_session_signed_in(lead_client):
    answer = lead_client.post(
        reverse("accounts:password"),
        {
            "old_password": "a long password",
            "new_password1": "quite another one",
            "new_password2": "quite another one",
        },
        follow=True,
    )
    assert "Your password is changed" in answer.content.decode()
    assert lead_client.get(reverse("accounts:profile")).status_code == 200


def test_an_annotator_sees_the_account_without_the_navigation_of_studies(client, annotator):
    client.force_login(annotator.user)
    page = client.get(reverse("accounts:profile")).content.decode()
    assert '<a href="/">Back to your tasks</a>' in page
    assert reverse("studies:list") not in page


def test_the_account_is_in_the_language_of_its_frame(client, annotator, lead_client):
    client.force_login(annotator.user)
    for visitor, heading, message in (
        (client, "Ihr Konto", "ist widerrufen"),
        (lead_client, "Your account", "is revoked"),
    ):
        visitor.cookies["stereoscope_language"] = "de"
        make_token(visitor, name=heading)
        token = ApiToken.objects.get(name=heading)
        answer = visitor.post(reverse("accounts:revoke_token", args=[token.prefix]), follow=True)
        assert heading in answer.content.decode()
        assert message in answer.content.decode()
    assert "Change password" in lead_client.get(reverse("accounts:password")).content.decode()


def test_the_account_page_takes_the_same_queries_however_many_tokens(
    lead_client, lead, django_assert_max_num_queries
):
    for number in range(12):
        tokens.issue(user=lead, name=f"token {number}", scopes=["read"])
    with django_assert_max_num_queries(4):
        lead_client.get(reverse("accounts:profile"))


def test_a_visitor_who_is_not_signed_in_is_led_to_sign_in_first(client, db):
    for name in ("profile", "password", "sessions"):
        answer = client.get(reverse(f"accounts:{name}"))
        assert answer.url.startswith(reverse("accounts:sign_in")), name
