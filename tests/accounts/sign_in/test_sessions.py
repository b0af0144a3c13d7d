"""People see where they are signed in and can sign out there, but cannot end the sessions of others."""

import pytest
from allauth.usersessions.models import UserSession
from django.test import Client
from django.urls import reverse

from accounts.sign_in.browsers import browser_name

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 Version/19 Safari/604"
PAGE = reverse("accounts:sessions")
pytestmark = pytest.mark.django_db


def signed_in(name="lena", browser=FIREFOX, address="192.0.2.7"):
    client = Client(HTTP_USER_AGENT=browser, REMOTE_ADDR=address)
    client.post(reverse("accounts:sign_in"), {"username": name, "password": "a long password"})
    return client


def is_signed_in(client):
    return client.get(reverse("accounts:profile")).status_code == 200


def test_the_list_shows_exactly_the_persons_own_sessions(lead, analyst):
    here = signed_in()
    signed_in(browser=SAFARI, address="192.0.2.8")
    signed_in(analyst.username, address="192.0.2.9")
    page = here.get(PAGE).content.decode()
    assert page.index("Firefox on Linux") < page.index("Safari on iPhone")
    assert "192.0.2.8" in page
    assert "192.0.2.9" not in page


def test_one_session_is_ended_and_the_others_stay(lead):
    here, phone, desk = signed_in(), signed_in(browser=SAFARI), signed_in()
    place = UserSession.objects.get(user_agent=SAFARI)
    here.post(reverse("accounts:end_session", args=[place.pk]))
    assert [is_signed_in(client) for client in (here, phone, desk)] == [True, False, True]


def test_everywhere_else_is_signed_out_at_once(lead, analyst):
    here, phone, desk, other = signed_in(), signed_in(), signed_in(), signed_in(analyst.username)
    here.post(reverse("accounts:end_other_sessions"))
    assert [is_signed_in(client) for client in (here, phone, desk, other)] == [True, False, False, True]
    assert "You are signed in nowhere else." in here.get(PAGE).content.decode()


def test_nobody_ends_the_session_of_another(lead, stranger):
    mine, theirs = signed_in(), signed_in("stella")
    place = UserSession.objects.get(user=lead)
    assert theirs.post(reverse("accounts:end_session", args=[place.pk])).status_code == 404
    assert is_signed_in(mine)


def test_this_session_is_ended_by_signing_out_only(lead):
    here = signed_in()
    place = UserSession.objects.get()
    assert here.post(reverse("accounts:end_session", args=[place.pk])).status_code == 403
    assert is_signed_in(here)


def test_a_changed_password_ends_other_sessions_and_leaves_this_one_in_the_list(lead):
    here, phone = signed_in(), signed_in(browser=SAFARI)
    new = {"new_password1": "another long password", "new_password2": "another long password"}
    here.post(reverse("accounts:password"), {"old_password": "a long password", **new})
    assert [is_signed_in(client) for client in (here, phone)] == [True, False]
    page = here.get(PAGE).content.decode()
    assert "Firefox on Linux" in page
    assert "Safari on iPhone" not in page


def test_an_administrator_sees_nobodys_addresses(admin_client, lead):
    signed_in()
    assert "usersessions" not in admin_client.get(reverse("admin:index")).content.decode()


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (FIREFOX, "Firefox on Linux"),
        (SAFARI, "Safari on iPhone"),
        ("", "Unknown browser"),
        ("curl/8", "Unknown browser"),
    ],
)
def test_browsers_have_names_that_people_know(user_agent, name):
    assert browser_name(user_agent) == name
