"""Second factors: setting up, signing in, being required, losing one."""

import time

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from accounts import tokens
from accounts.models import User
from accounts.sign_in.checks import check_second_factor
from tests.accounts.sign_in.totp import PASSWORD, code_at, set_up_app, sign_in

ACCOUNT = reverse("accounts:profile")
ENTER = reverse("mfa_authenticate")
SET_UP = reverse("mfa_index")
API = "/api/v1/studies/"
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_cached():
    cache.clear()  # codes that were used


@pytest.fixture
def app(lead, django_capture_on_commit_callbacks) -> str:
    """The secret of Lena's app."""
    client = Client()
    sign_in(client)
    return set_up_app(client, django_capture_on_commit_callbacks)


def later(seconds=60):
    """Move on in time, because earlier codes are used up."""
    return time_machine.travel(time.time() + seconds)


def is_signed_in(client):
    return client.get(ACCOUNT).status_code == 200


def test_a_password_alone_no_longer_signs_in(client, app):
    assert sign_in(client).url == ENTER
    assert not is_signed_in(client)


def test_the_code_of_the_app_signs_in_and_leads_on(client, app):
    with later():
        client.post(
            reverse("accounts:sign_in"),
            {"username": "lena", "password": "a long password", "next": reverse("accounts:password")},
        )
        assert client.post(ENTER, {"code": code_at(app)}).url == reverse("accounts:password")
        assert is_signed_in(client)


def test_a_code_works_once(client, app):
    with later():
        for _ in range(2):
            browser = Client()
            sign_in(browser)
            browser.post(ENTER, {"code": code_at(app)})
        assert not is_signed_in(browser)


def test_a_used_code_is_refused_by_another_process_and_half_a_minute_later(client, app):
    with later():
        code = code_at(app)
        sign_in(client)
        client.post(ENTER, {"code": code})
        assert is_signed_in(client)
    cache.clear()  # as in another process, or after half a minute
    with later():
        thief = Client()
        sign_in(thief)
        thief.post(ENTER, {"code": code})
        assert not is_signed_in(thief)


def test_the_code_of_the_set_up_does_not_sign_in(client, lead, django_capture_on_commit_callbacks):
    sign_in(client)
    moment = time.time()
    with time_machine.travel(moment, tick=False):
        secret = set_up_app(client, django_capture_on_commit_callbacks)
        cache.clear()
        thief = Client()
        sign_in(thief)
        thief.post(ENTER, {"code": code_at(secret)})
    assert not is_signed_in(thief)


def test_a_code_of_two_minutes_ago_does_not_sign_in(client, app):
    with later():
        sign_in(client)
        client.post(ENTER, {"code": code_at(app, time.time() - 120)})
        assert not is_signed_in(client)


def test_a_recovery_code_signs_in_once(client, app):
    owner = Client()
    with later():
        sign_in(owner)
        owner.post(ENTER, {"code": code_at(app)})
    page = owner.get(reverse("mfa_view_recovery_codes"))
    code, *_ = page.context["unused_codes"]
    assert code in page.content.decode()
    found = []
    for _ in range(2):
        browser = Client()
        sign_in(browser)
        browser.post(ENTER, {"code": code})
        found.append(is_signed_in(browser))
    assert found == [True, False]


def test_ten_wrong_codes_close_the_sign_in_for_a_while(client, app):
    sign_in(client)
    answers = [client.post(ENTER, {"code": f"{number:06}"}).status_code for number in range(10)]
    assert answers == [200] * 9 + [429]
    with later():
        assert client.post(ENTER, {"code": code_at(app)}).status_code == 429
    assert not is_signed_in(client)


def test_wrong_codes_and_wrong_passwords_are_counted_together(client, app):
    for number in range(5):
        client.post(reverse("accounts:sign_in"), {"username": "lena", "password": f"{number}"})
    sign_in(client)
    answers = [client.post(ENTER, {"code": f"{number:06}"}).status_code for number in range(5)]
    assert answers == [200] * 4 + [429]


def test_wrong_codes_elsewhere_do_not_lock_the_person_out(client, app):
    thief = Client(REMOTE_ADDR="192.0.2.66")
    sign_in(thief)
    for number in range(11):
        thief.post(ENTER, {"code": f"{number:06}"})
    with later():
        sign_in(client)
        client.post(ENTER, {"code": code_at(app)})
        assert is_signed_in(client)


def test_secrets_are_stored_encrypted(app):
    stored = Authenticator.objects.get(type="totp").data
    assert app not in str(stored)


def test_a_change_long_after_signing_in_needs_the_password_again(client, app):
    with later(60):
        sign_in(client)
        client.post(ENTER, {"code": code_at(app)})
    page = reverse("mfa_deactivate_totp")
    with later(20 * 60):
        asked = client.get(page)
        assert asked.url.startswith(reverse("account_reauthenticate"))
        client.post(asked.url, {"password": "wrong"})
        assert client.get(page).status_code == 302
        client.post(asked.url, {"password": "a long password"})
        assert client.get(page).status_code == 200


@pytest.mark.parametrize("group", ["leads", "administrators", "analysts"])
def test_people_who_need_a_second_factor_set_it_up_before_anything_else(
    settings, lead, group, study, django_capture_on_commit_callbacks
):
    settings.SECOND_FACTOR_FOR = [group]
    lead.is_superuser = group == "administrators"
    lead.is_analyst = group == "analysts"
    lead.save()
    client = Client()
    sign_in(client)
    for page in ("/", ACCOUNT, reverse("studies:list"), "/admin/", "/annotate/", "/metrics"):
        assert client.get(page).url == SET_UP, page
    assert client.post(reverse("accounts:create_token"), {"name": "x", "scopes": ["read"]}).url == SET_UP
    refused = client.get(API)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "second_factor_missing")
    assert "Set up a second factor to continue" in client.get(SET_UP).content.decode()
    set_up_app(client, django_capture_on_commit_callbacks)
    assert is_signed_in(client)
    assert client.get(API).status_code == 200


def test_leading_a_single_study_requires_a_second_factor(settings, study, stranger):
    settings.SECOND_FACTOR_FOR = ["leads"]
    stranger.is_lead = stranger.is_analyst = False
    stranger.save()
    client = Client()
    client.force_login(stranger)
    assert is_signed_in(client)
    study.memberships.create(user=stranger, role="lead")
    assert client.get(ACCOUNT).url == SET_UP


def test_others_need_no_second_factor(settings, analyst_client, annotator):
    settings.SECOND_FACTOR_FOR = ["leads", "administrators"]
    assert is_signed_in(analyst_client)
    client = Client()
    client.force_login(annotator.user)
    assert client.get("/annotate/").status_code == 200


def test_a_session_from_before_the_set_up_elsewhere_has_to_enter_a_code(settings, lead_client, app):
    settings.SECOND_FACTOR_FOR = ["leads"]
    asked = lead_client.get(ACCOUNT)
    assert asked.url == f"{reverse('mfa_reauthenticate')}?next=%2Faccount%2F"
    with later():
        assert lead_client.post(asked.url, {"code": code_at(app)}).url == ACCOUNT
    assert is_signed_in(lead_client)


def test_a_removed_factor_has_to_be_set_up_again_at_the_next_sign_in(settings, client, app):
    settings.SECOND_FACTOR_FOR = ["leads"]
    Authenticator.objects.filter(type="totp").delete()
    sign_in(client)
    assert client.get(ACCOUNT).url == SET_UP


@pytest.mark.parametrize("from_list", [True, False])
def test_an_administrator_removes_the_factors_of_somebody_and_sees_no_secret(client, app, from_list):
    admin = Client()
    admin.force_login(User.objects.create_superuser("ada", password=PASSWORD))
    factor = Authenticator.objects.get(type="totp")
    page = reverse("admin:mfa_authenticator_change", args=[factor.pk])
    shown = admin.get(page).content.decode()
    assert str(factor.user) in shown
    assert factor.data["secret"] not in shown
    admin.post(page, {"user": factor.user_id, "type": "totp", "data": "{}"})
    assert Authenticator.objects.get(type="totp").data == factor.data
    if from_list:
        chosen = {"action": "delete_selected", "_selected_action": [factor.pk], "post": "yes"}
        admin.post(reverse("admin:mfa_authenticator_changelist"), chosen)
    else:
        admin.post(reverse("admin:mfa_authenticator_delete", args=[factor.pk]), {"post": "yes"})
    assert not Authenticator.objects.exists()
    sign_in(client)
    assert is_signed_in(client)


def test_api_tokens_keep_working(settings, client, lead):
    settings.SECOND_FACTOR_FOR = ["leads"]
    key = tokens.issue(user=lead, name="export", scopes=["read"])[1]
    assert client.get(API, HTTP_AUTHORIZATION=f"Bearer {key}").status_code == 200


@pytest.mark.parametrize(
    ("hosts", "groups", "expected"),
    [
        (["localhost"], [], []),
        (["labels.example.org"], [], ["stereoscope.W020"]),
        (["labels.example.org"], ["leads"], ["stereoscope.W020"]),
        (["labels.example.org"], ["leads", "administrators"], []),
        (["localhost"], ["leaders"], ["stereoscope.E020"]),
    ],
)
def test_settings_that_leave_a_public_server_open_are_named(settings, hosts, groups, expected):
    settings.ALLOWED_HOSTS = hosts
    settings.SECOND_FACTOR_FOR = groups
    assert [message.id for message in check_second_factor(None)] == expected
