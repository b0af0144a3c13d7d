"""A forgotten password is replaced through a letter."""

import re

import pytest
from django.core import mail
from django.core.cache import cache
from django.urls import reverse

ASK = reverse("account_reset_password")
SIGN_IN = reverse("accounts:sign_in")
NEW = "a password of its own"
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _mail(settings, lead):
    settings.EMAIL_HOST = "mail.example.org"
    lead.email = "lena@example.org"
    lead.save()
    cache.clear()  # letters are counted there


def letter_link(client, email="lena@example.org"):
    client.post(ASK, {"email": email})
    (letter,) = mail.outbox
    return re.search(r"https?://[^/]+(/\S+)", letter.body)[1]


def choose(client, link, password=NEW):
    page = client.get(link, follow=True)
    return client.post(page.request["PATH_INFO"], {"password1": password, "password2": password}, follow=True)


def test_the_link_in_the_letter_sets_a_new_working_password(client, lead):
    answer = choose(client, letter_link(client))
    assert answer.redirect_chain[-1][0] == SIGN_IN
    assert "Your password is changed" in answer.content.decode()
    assert client.post(SIGN_IN, {"username": "lena", "password": NEW}).status_code == 302


def test_a_new_password_signs_out_everywhere(client, lead, lead_client):
    choose(client, letter_link(client))
    assert lead_client.get(reverse("accounts:profile")).status_code == 302


def test_a_link_works_once(client, lead):
    link = letter_link(client)
    choose(client, link)
    client.session.flush()
    assert "no longer works" in client.get(link, follow=True).content.decode()


def test_a_weak_password_is_refused(client, lead):
    choose(client, letter_link(client), "password12")
    lead.refresh_from_db()
    assert lead.check_password("a long password")


def test_the_page_does_not_reveal_whether_an_address_is_known(client):
    known = client.post(ASK, {"email": "lena@example.org"}, follow=True)
    mail.outbox.clear()
    unknown = client.post(ASK, {"email": "nobody@example.org"}, follow=True)
    assert known.content == unknown.content
    assert mail.outbox == []


def test_people_without_a_password_get_no_letter(client, lead):
    lead.set_unusable_password()
    lead.save()
    client.post(ASK, {"email": "lena@example.org"})
    assert mail.outbox == []


def test_the_letter_links_to_the_address_of_the_server(client, settings):
    settings.SITE_URL = "https://labels.example.org"
    client.post(ASK, {"email": "lena@example.org"})
    assert "https://labels.example.org/account/password/new/" in mail.outbox[0].body


def test_the_number_of_letters_is_limited(client):
    answers = [client.post(ASK, {"email": "lena@example.org"}).status_code for _ in range(6)]
    assert answers == [302] * 5 + [429]


def test_a_server_without_mail_says_so(client, settings):
    settings.EMAIL_HOST = ""
    assert client.get(ASK).status_code == 403
    assert "Forgotten your password?" not in client.get(SIGN_IN).content.decode()
