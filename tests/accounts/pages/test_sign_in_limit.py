"""Guesses at passwords are limited for each user name from each address."""

from datetime import timedelta

import pytest
import time_machine
from django.urls import reverse
from django.utils import timezone

SIGN_IN = reverse("accounts:sign_in")
RIGHT = {"username": "lena", "password": "a long password"}

pytestmark = pytest.mark.django_db


def guess(client, number, username="lena", **extra):
    return [client.post(SIGN_IN, {"username": username, "password": f"{n}"}, **extra) for n in range(number)]


def test_after_ten_wrong_passwords_even_the_right_one_waits(client, lead):
    *earlier, tenth = guess(client, 10)
    assert {answer.status_code for answer in earlier} == {200}
    refused = client.post(SIGN_IN, RIGHT)
    assert (tenth.status_code, refused.status_code) == (429, 429)
    assert refused["Retry-After"] == "900"
    assert "15 minutes" in refused.content.decode()
    with time_machine.travel(timezone.now() + timedelta(minutes=16)):
        assert client.post(SIGN_IN, RIGHT).status_code == 302


def test_the_limit_covers_other_browsers_but_not_other_addresses_or_names(client, lead, analyst):
    guess(client, 10)
    assert client.post(SIGN_IN, RIGHT, HTTP_USER_AGENT="another").status_code == 429
    assert guess(client, 1, username=analyst.username)[0].status_code == 200
    assert client.post(SIGN_IN, RIGHT, REMOTE_ADDR="127.0.0.9").status_code == 302


def test_the_right_password_resets_the_count(client, lead):
    for _ in range(3):
        guess(client, 9)
        assert client.post(SIGN_IN, RIGHT).status_code == 302
        client.logout()


def test_the_page_does_not_reveal_whether_a_user_exists(client, lead):
    known, unknown = guess(client, 10)[-1], guess(client, 10, username="nobody")[-1]
    assert known.content == unknown.content
    assert known.status_code == unknown.status_code == 429


def test_the_admin_sends_people_to_the_same_sign_in(client, lead):
    page = reverse("admin:accounts_user_changelist")
    refused = client.get(page, follow=True)
    assert refused.redirect_chain[-1][0] == f"{SIGN_IN}?next={page}"
    assert client.post(reverse("admin:login"), RIGHT).url.startswith(SIGN_IN)
    assert "_auth_user_id" not in client.session


def test_people_without_admin_rights_see_a_message_and_no_redirect_loop(lead_client):
    assert lead_client.get(reverse("admin:index"), follow=True).status_code == 403


def test_no_password_is_stored(client, lead):
    from axes.models import AccessAttempt

    client.post(SIGN_IN, {"username": "lena", "password": "nearly a long password"})
    (kept,) = AccessAttempt.objects.all()
    assert "nearly" not in kept.post_data + kept.get_data


CHANGE = reverse("accounts:password")
NEW = {"new_password1": "another long password", "new_password2": "another long password"}


def test_the_old_password_cannot_be_guessed_either(lead_client, lead):
    *earlier, tenth = [lead_client.post(CHANGE, {"old_password": f"{n}", **NEW}) for n in range(10)]
    assert {answer.status_code for answer in earlier} == {200}
    refused = lead_client.post(CHANGE, {"old_password": RIGHT["password"], **NEW})
    assert (tenth.status_code, refused.status_code) == (429, 429)
    lead.refresh_from_db()
    assert lead.check_password(RIGHT["password"])


def test_tries_at_the_old_password_and_at_signing_in_are_counted_together(client, lead_client, lead):
    guess(client, 5)
    answers = [lead_client.post(CHANGE, {"old_password": f"{n}", **NEW}) for n in range(5)]
    assert answers[-1].status_code == 429
    assert client.post(SIGN_IN, RIGHT).status_code == 429


def test_the_right_old_password_resets_the_count(lead_client, lead):
    for number in range(9):
        lead_client.post(CHANGE, {"old_password": f"{number}", **NEW})
    assert lead_client.post(CHANGE, {"old_password": RIGHT["password"], **NEW}).status_code == 302
    assert lead_client.post(CHANGE, {"old_password": "wrong", **NEW}).status_code == 200
    lead.refresh_from_db()
    assert lead.check_password(NEW["new_password1"])


def test_the_admin_sends_those_who_change_their_password_to_that_page(client, django_user_model):
    client.force_login(django_user_model.objects.create_superuser("root", password="a long password"))
    for method in (client.get, client.post):
        answer = method(reverse("admin:password_change"))
        assert (answer.status_code, answer.url) == (302, CHANGE)
