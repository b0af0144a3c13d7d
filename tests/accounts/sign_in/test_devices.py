"""The device cookie: wrong passwords entered elsewhere do not lock a person out of their own browser."""

import pytest
from django.test import Client
from django.urls import reverse

from accounts.sign_in.devices import COOKIE, MAX_USERS

SIGN_IN = reverse("accounts:sign_in")
RIGHT = {"username": "lena", "password": "a long password"}

pytestmark = pytest.mark.django_db


def guess(client, number, username="lena"):
    return [client.post(SIGN_IN, {"username": username, "password": f"{n}"}) for n in range(number)]


@pytest.fixture
def used(lead):
    """A browser in which lena has signed in and out."""
    client = Client()
    client.post(SIGN_IN, RIGHT)
    client.post(reverse("accounts:sign_out"))
    return client


def test_a_neighbour_locks_nobody_out_of_their_own_browser(used):
    neighbour = Client()  # behind the same address
    assert guess(neighbour, 10)[-1].status_code == 429
    assert neighbour.post(SIGN_IN, RIGHT).status_code == 429
    assert used.post(SIGN_IN, RIGHT).status_code == 302


def test_a_stolen_device_cookie_allows_only_ten_guesses(used):
    assert guess(used, 10)[-1].status_code == 429
    assert used.post(SIGN_IN, RIGHT).status_code == 429
    assert Client().post(SIGN_IN, RIGHT).status_code == 302


def test_signing_in_to_an_own_account_gives_no_guesses_at_others(used, analyst):
    guess(used, 5, username=analyst.username)
    strangers = guess(Client(), 5, username=analyst.username)
    assert strangers[-1].status_code == 429  # counted together, by address


def test_a_forged_cookie_is_a_new_browser(used, lead):
    forged = Client()
    forged.cookies[COOKIE] = used.cookies[COOKIE].value[:-1] + "x"
    guess(forged, 10)
    assert Client().post(SIGN_IN, RIGHT).status_code == 429  # counted by address


def test_the_cookie_names_nobody_and_is_closed_to_scripts(used):
    cookie = used.cookies[COOKIE]
    assert "lena" not in cookie.value
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"


def test_the_cookie_keeps_the_latest_users(used, django_user_model):
    for number in range(MAX_USERS):
        django_user_model.objects.create_user(f"person-{number}", password="a long password")
        used.post(SIGN_IN, {"username": f"person-{number}", "password": "a long password"})
        used.post(reverse("accounts:sign_out"))
    neighbour = Client()
    guess(neighbour, 10)
    guess(neighbour, 10, username="person-0")
    assert used.post(SIGN_IN, RIGHT).status_code == 429
    assert used.post(SIGN_IN, {**RIGHT, "username": "person-0"}).status_code == 302
