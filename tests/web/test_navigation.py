"""Links of the main navigation come from the apps, in a fixed order, and each person sees their own."""

import pytest

from accounts.models import User
from web import navigation


@pytest.fixture
def own_links(monkeypatch):
    monkeypatch.setattr(navigation, "_links", {})


def labels(**roles: bool) -> list[str]:
    return [link.label for link in navigation.links_for(User(username="someone", **roles))]


def test_each_person_sees_the_links_of_their_roles():
    assert labels() == ["Studies", "Jobs", "Account"]
    assert labels(is_lead=True) == ["Studies", "Resources", "Jobs", "Account"]
    assert labels(is_analyst=True) == ["Studies", "Resources", "Jobs", "Account"]
    assert labels(is_staff=True) == ["Studies", "Jobs", "Account", "Administration"]
    assert labels(is_superuser=True, is_staff=True) == [
        "Studies",
        "Resources",
        "Jobs",
        "Account",
        "Administration",
    ]


@pytest.mark.usefixtures("own_links")
def test_the_order_is_that_of_the_numbers_and_not_of_registration():
    navigation.register_link("Jobs", "jobs:list", order=2)
    navigation.register_link("Account", "accounts:profile", order=1)
    assert labels() == ["Account", "Jobs"]


@pytest.mark.usefixtures("own_links")
def test_a_link_registered_twice_is_shown_once():
    for _ in range(2):
        navigation.register_link("Jobs", "jobs:list", order=1)
    assert labels() == ["Jobs"]


def test_sign_in_and_sign_out_use_the_addresses_of_accounts():
    assert navigation.sign_in_url() == "/account/sign-in/"
    assert navigation.sign_out_url() == "/account/sign-out/"
