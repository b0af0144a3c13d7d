"""Links that Prolific signs: each value of the token is checked, and the signature by Prolific's own keys."""

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.core.cache import cache
from django.test import Client

from annotation.recruitment.models import PanelPlace
from tests.annotation.recruitment.prolific.conftest import Visitor

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_keys():
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def signing(published, settings):
    """A recruitment whose workspace signs its links."""
    settings.SITE_URL = "http://testserver"
    published.provider.signs_links = True
    published.provider.save(update_fields=["signs_links"])
    return published


def opened(fake, browser: Visitor, **changes):
    link = fake.control("signed_link", submission=browser.submission, **changes)
    return Client().get(link.removeprefix("http://testserver"))


def test_a_signed_link_gives_a_place_without_asking_prolific(fake, signing):
    browser = Visitor(fake, signing, "5f3a0c77b1d2e4a6c8f00112")
    fake.fault("submission", "502", times=None)
    assert opened(fake, browser)["Location"] == browser.page("welcome")
    assert PanelPlace.objects.get().verified == "signed"


def private_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": "https://elsewhere.example"},
        {"seconds": -60},
        {"study": "6a0b1c2d3e4f5a6b7c8d9e0f"},
        {"participant": 7},
        {"session": ""},
        {"algorithm": "none"},
        {"pem": "another"},
    ],
)
def test_a_token_with_anything_wrong_gives_no_place(fake, signing, changes):
    browser = Visitor(fake, signing, "5f3a0c77b1d2e4a6c8f00112")
    if changes.get("pem"):
        changes = {"pem": private_key()}
    assert opened(fake, browser, **changes)["Location"] == browser.page("refused")
    assert PanelPlace.objects.count() == 0


def test_ids_without_a_signature_give_no_place_where_links_are_signed(fake, signing):
    browser = Visitor(fake, signing, "5f3a0c77b1d2e4a6c8f00112")
    assert browser.come()["Location"] == browser.page("refused")
    assert browser.get("/").status_code in {200, 302}
    assert PanelPlace.objects.count() == 0


def test_a_new_key_is_fetched_and_the_old_ones_are_kept_for_a_day(fake, signing):
    first, second = Visitor(fake, signing, "person-1"), Visitor(fake, signing, "person-2")
    assert opened(fake, first)["Location"] == first.page("welcome")
    fake.control("rotate_keys")
    assert opened(fake, second)["Location"] == second.page("welcome")
    # An unknown key is not requested repeatedly.
    third = Visitor(fake, signing, "person-3")
    fake.control("rotate_keys")
    assert opened(fake, third)["Location"] == third.page("refused")
