"""A session ends after some time without use and after a fixed time, unless a personal link began it."""

import time
from datetime import timedelta

import pytest
import time_machine
from allauth.usersessions.models import UserSession
from django.urls import reverse
from django.utils import timezone

from accounts.sign_in import limits
from annotation.people import invitations
from tests.e2e.annotator.steps import marking

__all__ = ["marking"]
ACCOUNT = reverse("accounts:profile")
SIGN_IN = reverse("accounts:sign_in")
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _limits(settings):
    settings.SESSION_IDLE_MINUTES = 30
    settings.SESSION_MAX_HOURS = 2


def statuses(client, minutes):
    """Open the account page so many minutes from now, for each of `minutes`; return the statuses."""
    start = time.time()
    found = []
    for minute in minutes:
        with time_machine.travel(start + minute * 60, tick=False):
            found.append(client.get(ACCOUNT).status_code)
    return found


def test_a_session_that_nobody_uses_ends(lead_client):
    assert statuses(lead_client, [29, 58, 89]) == [200, 200, 302]


def test_a_session_ends_after_a_fixed_time_however_much_it_is_used(lead_client):
    assert statuses(lead_client, [25, 50, 75, 100, 119, 121]) == [200, 200, 200, 200, 200, 302]


def test_an_ended_session_stays_ended_and_says_why(lead_client):
    assert statuses(lead_client, [31, 1]) == [302, 302]
    assert limits.ENDED in lead_client.get(SIGN_IN).content.decode()


def test_an_ended_session_cannot_use_the_api(lead_client):
    with time_machine.travel(time.time() + 31 * 60):
        assert lead_client.get("/api/v1/studies/").status_code == 401
        assert lead_client.get(ACCOUNT).status_code == 302


def test_a_limit_of_zero_means_no_limit(lead_client, settings):
    settings.SESSION_IDLE_MINUTES = settings.SESSION_MAX_HOURS = 0
    assert statuses(lead_client, [31, 121]) == [200, 200]


def test_sessions_begun_by_a_personal_link_have_no_limit(client, marking, lead):
    token = invitations.invite(campaign=marking, by=lead)[1]
    client.post(reverse("annotate:invitation", args=[token]))
    assert statuses(client, [31, 121]) == [200, 200]
    assert not UserSession.objects.exists()


def test_the_time_of_last_use_is_stored_once_a_minute(client, lead):
    client.post(SIGN_IN, {"username": "lena", "password": "a long password"})
    before = UserSession.objects.get().last_seen_at
    client.get(ACCOUNT)
    assert UserSession.objects.get().last_seen_at == before
    with time_machine.travel(timezone.now() + timedelta(minutes=2)):
        client.get(ACCOUNT)
    assert UserSession.objects.get().last_seen_at > before
