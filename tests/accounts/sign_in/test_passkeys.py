"""Passkeys: adding, signing in with and without a password, renaming, removing; and forged ones."""

import json
import time

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from fido2.utils import websafe_encode

from accounts.models import User
from accounts.sign_in import passkeys
from tests.accounts.sign_in.passkey_device import ADD, SIGN_IN, Device, add_passkey, options_on, sign_in_with
from tests.accounts.sign_in.totp import code_at, set_up_app, sign_in

ACCOUNT = reverse("accounts:profile")
ENTER = reverse("mfa_authenticate")
CONFIRM = reverse("mfa_reauthenticate_webauthn")
FACTORS = reverse("mfa_index")
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_cached():
    cache.clear()  # how often the person confirmed their identity


class Browser(Client):
    """A browser that opens the site under a name that passkeys can be bound to."""

    def __init__(self, **options):
        super().__init__(SERVER_NAME="localhost", **options)


@pytest.fixture
def browser_of_lena(lead):
    browser = Browser()
    sign_in(browser)
    return browser


@pytest.fixture
def device(browser_of_lena, django_capture_on_commit_callbacks):
    return add_passkey(browser_of_lena, django_capture_on_commit_callbacks)


def is_signed_in(client):
    return client.get(ACCOUNT).status_code == 200


def use_second(client, device):
    return client.post(ENTER, {"credential": json.dumps(device.use(options_on(client.get(ENTER))))})


def factors(user):
    return sorted(Authenticator.objects.filter(user=user).values_list("type", flat=True))


def test_the_first_passkey_brings_recovery_codes_and_is_listed_by_its_name(browser_of_lena, device, lead):
    assert factors(lead) == ["recovery_codes", "webauthn"]
    page = browser_of_lena.get(FACTORS).content.decode()
    assert "work laptop" in page
    assert "signs you in without a password." in " ".join(page.split())
    assert len(browser_of_lena.get(reverse("mfa_view_recovery_codes")).context["unused_codes"]) == 10


def test_a_passkey_is_asked_for_after_the_password(device):
    browser = Browser()
    assert sign_in(browser).url == ENTER
    assert not is_signed_in(browser)
    use_second(browser, device)
    assert is_signed_in(browser)


def test_a_passkey_alone_signs_in_and_leads_on(device, settings):
    settings.SECOND_FACTOR_FOR = ["leads"]
    browser = Browser()
    assert sign_in_with(browser, device, next=reverse("accounts:sessions")).url == reverse(
        "accounts:sessions"
    )
    assert is_signed_in(browser)
    assert sign_in_with(Browser(), device, next="https://elsewhere.example/").url == "/"


def test_a_security_key_without_a_pin_is_only_a_second_factor(
    browser_of_lena, django_capture_on_commit_callbacks
):
    key = add_passkey(
        browser_of_lena, django_capture_on_commit_callbacks, Device(checks_owner=False, keeps_it=False)
    )
    assert "signs you in after your password." in browser_of_lena.get(FACTORS).content.decode()
    browser = Browser()
    sign_in(browser)
    use_second(browser, key)
    assert is_signed_in(browser)
    stranger = Browser()
    sign_in_with(stranger, key)
    assert not is_signed_in(stranger)


def test_a_weaker_challenge_does_not_allow_sign_in_without_a_password(
    browser_of_lena, stranger, django_capture_on_commit_callbacks
):
    """The attacker has an account of their own and Lena's stolen key, but not its PIN."""
    capture = django_capture_on_commit_callbacks
    stolen = add_passkey(browser_of_lena, capture, Device(checks_owner=False))
    thief = Browser()
    sign_in(thief, stranger.username)
    add_passkey(thief, capture)
    thief.post(reverse("accounts:sign_out"))
    sign_in(thief, stranger.username)
    weak = options_on(thief.get(ENTER))
    assert weak["userVerification"] == "preferred"
    thief.post(SIGN_IN, {"credential": json.dumps(stolen.use(weak))})
    assert not is_signed_in(thief)


FALSE_DEVICES = {
    "another server": {"origin": "https://localhost.example.org"},
    "below our name": {"origin": "http://evil.localhost"},
    "another port": {"origin": "http://localhost:8001"},
    "bound to another name": {"site_name": "example.org"},
    "unchecked owner": {"checks_owner": False},
    "another key": {"number": b"another key at all"},
}


@pytest.mark.parametrize("lie", FALSE_DEVICES)
def test_a_false_passkey_signs_nobody_in(device, lie):
    for name, value in FALSE_DEVICES[lie].items():
        setattr(device, name, value)
    browser = Browser()
    answer = sign_in_with(browser, device)
    assert answer.url == reverse("account_login")
    assert str(passkeys.REFUSED) in browser.get(answer.url).content.decode()
    assert not is_signed_in(browser)


def test_a_signature_by_another_key_or_for_another_person_signs_nobody_in(device, stranger):
    forged = Device(number=device.number, owner=device.owner)
    browser = Browser()
    sign_in_with(browser, forged)
    assert not is_signed_in(browser)
    device.owner = websafe_encode(str(stranger.pk).encode())
    sign_in_with(browser, device)
    assert not is_signed_in(browser)


def test_an_answer_works_once_and_in_one_browser(device):
    browser, thief = Browser(), Browser()
    options = browser.get(SIGN_IN, HTTP_ACCEPT="application/json").json()["request_options"]["publicKey"]
    answer = {"credential": json.dumps(device.use(options))}
    thief.get(SIGN_IN, HTTP_ACCEPT="application/json")
    thief.post(SIGN_IN, answer)
    assert not is_signed_in(thief)
    browser.post(SIGN_IN, answer)
    assert is_signed_in(browser)
    browser.post(reverse("accounts:sign_out"))
    browser.post(SIGN_IN, answer)
    assert not is_signed_in(browser)


def client_data(words):
    return {"clientDataJSON": websafe_encode(words), "attestationObject": "oA", "authenticatorData": "AA"}


MALFORMED = [
    "", "null", "5", "[]", "{}", "[" * 5000, '"x"', "{", '{"id": 1}',
    json.dumps({"id": "AA", "rawId": "AA", "type": "public-key", "response": {}}),
    json.dumps({"id": "AA", "rawId": "AA", "type": "public-key", "response": client_data(b"[]")}),
    json.dumps({"id": "AA", "rawId": "AA", "type": "public-key", "response": client_data(b"\xff")}),
    json.dumps({"id": "AA", "rawId": "AA", "type": "public-key", "response": client_data(b'{"origin": 1}')}),
    json.dumps({"id": "AA", "rawId": "AA", "type": "public-key", "response": {
        "clientDataJSON": websafe_encode(b'{"type": "webauthn.create", "challenge": "AA", "origin": "x"}'),
        "attestationObject": websafe_encode(b"\x81" * 5000)}}),
    json.dumps({"id": "A" * 30_000}),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(MALFORMED)))
def test_malformed_passkeys_cause_no_server_error(browser_of_lena, device, number):
    posted = {"credential": MALFORMED[number], "name": "x"}
    browser = Browser()
    sign_in(browser)
    browser.get(ENTER)
    browser_of_lena.get(CONFIRM)
    assert browser.post(ENTER, posted).status_code == 200
    assert browser_of_lena.post(CONFIRM, posted).status_code == 200
    browser_of_lena.get(ADD)
    assert browser_of_lena.post(ADD, posted).status_code == 200
    outside = Browser()
    outside.get(SIGN_IN, HTTP_ACCEPT="application/json")
    assert outside.post(SIGN_IN, posted).status_code == 302
    assert Authenticator.objects.filter(type="webauthn").count() == 1
    assert not is_signed_in(browser)
    assert not is_signed_in(outside)


@pytest.mark.parametrize("lie", ["another server", "bound to another name"])
def test_a_false_passkey_is_not_added(browser_of_lena, lead, lie):
    false = Device(**FALSE_DEVICES[lie])
    credential = json.dumps(false.create(options_on(browser_of_lena.get(ADD))))
    page = browser_of_lena.post(ADD, {"name": "x", "credential": credential})
    assert str(passkeys.REFUSED) in page.content.decode()
    assert factors(lead) == []


def test_a_challenge_of_another_session_adds_nothing(browser_of_lena, lead, stranger):
    thief = Browser()
    sign_in(thief, stranger.username)
    credential = json.dumps(Device().create(options_on(thief.get(ADD))))
    browser_of_lena.get(ADD)
    browser_of_lena.post(ADD, {"name": "x", "credential": credential})
    assert factors(lead) == []


def test_the_number_of_passkeys_is_limited(
    browser_of_lena, lead, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(passkeys, "MOST_PER_PERSON", 2)
    for _ in range(2):
        add_passkey(browser_of_lena, django_capture_on_commit_callbacks)
    credential = json.dumps(Device().create(options_on(browser_of_lena.get(ADD))))
    page = browser_of_lena.post(ADD, {"name": "x", "credential": credential})
    assert passkeys.TOO_MANY in page.content.decode()
    assert "the maximum number of passkeys for one account" in browser_of_lena.get(FACTORS).content.decode()


def test_passkey_names_are_set_changed_and_truncated(
    browser_of_lena, lead, django_capture_on_commit_callbacks
):
    add_passkey(browser_of_lena, django_capture_on_commit_callbacks, name="")
    add_passkey(browser_of_lena, django_capture_on_commit_callbacks, name="x" * 500)
    first, second = Authenticator.objects.filter(type="webauthn").order_by("pk")
    assert (str(first), str(second)) == ("Passkey", "x" * 80)
    rename = reverse("mfa_edit_webauthn", args=[first.pk])
    assert browser_of_lena.post(rename, {"name": "y" * 81}).status_code == 200
    assert browser_of_lena.post(rename, {"name": "<b>phone"}).url == FACTORS
    assert "&lt;b&gt;phone" in browser_of_lena.get(FACTORS).content.decode()


def test_nobody_changes_or_removes_the_passkey_of_somebody_else(device, stranger):
    browser = Browser()
    sign_in(browser, stranger.username)
    key = Authenticator.objects.get(type="webauthn")
    for name in ("mfa_edit_webauthn", "mfa_remove_webauthn"):
        assert browser.post(reverse(name, args=[key.pk]), {"name": "mine"}).status_code == 404
    assert str(Authenticator.objects.get(type="webauthn")) == "work laptop"


def test_a_passkey_satisfies_a_required_second_factor(
    settings, browser_of_lena, django_capture_on_commit_callbacks
):
    settings.SECOND_FACTOR_FOR = ["leads"]
    assert browser_of_lena.get(ACCOUNT).url == FACTORS
    add_passkey(browser_of_lena, django_capture_on_commit_callbacks)
    assert is_signed_in(browser_of_lena)


def test_removing_a_required_last_factor_is_announced_and_closes_all_pages(
    settings, browser_of_lena, device, lead, django_capture_on_commit_callbacks
):
    settings.SECOND_FACTOR_FOR = ["leads"]
    key = Authenticator.objects.get(type="webauthn")
    remove = reverse("mfa_remove_webauthn", args=[key.pk])
    assert "Your role needs a second factor" in browser_of_lena.get(remove).content.decode()
    set_up_app(browser_of_lena, django_capture_on_commit_callbacks)
    assert "Your role needs a second factor" not in browser_of_lena.get(remove).content.decode()
    assert browser_of_lena.post(remove).url == FACTORS
    assert factors(lead) == ["recovery_codes", "totp"]
    assert is_signed_in(browser_of_lena)
    app = reverse("mfa_deactivate_totp")
    assert "Your role needs a second factor" in browser_of_lena.get(app).content.decode()
    browser_of_lena.post(app)
    assert factors(lead) == []
    assert browser_of_lena.get(ACCOUNT).url == FACTORS


def test_a_removed_passkey_no_longer_signs_in(browser_of_lena, device):
    key = Authenticator.objects.get(type="webauthn")
    browser_of_lena.post(reverse("mfa_remove_webauthn", args=[key.pk]))
    browser = Browser()
    sign_in_with(browser, device)
    assert not is_signed_in(browser)


def test_a_session_from_before_shows_a_passkey_set_up_elsewhere(settings, lead, browser_of_lena, device):
    settings.SECOND_FACTOR_FOR = ["leads"]
    before = Browser()
    before.force_login(lead)
    asked = before.get(ACCOUNT)
    assert asked.url == f"{CONFIRM}?next=%2Faccount%2F"
    page = before.get(asked.url)
    assert "Use your password" not in page.content.decode()
    answer = {"credential": json.dumps(device.use(options_on(page))), "next": ACCOUNT}
    assert before.post(CONFIRM, answer).url == ACCOUNT
    assert is_signed_in(before)


@pytest.mark.parametrize(
    "name",
    ["mfa_activate_totp", "mfa_add_webauthn", "mfa_view_recovery_codes", "mfa_generate_recovery_codes"],
)
def test_the_password_alone_does_not_allow_changing_second_factors(settings, lead, device, name):
    """A session that was open before the passkey was added elsewhere; nobody is required to have one."""
    thief = Browser()
    thief.force_login(lead)
    assert thief.get(reverse(name)).url.startswith(f"{CONFIRM}?")
    assert thief.post(reverse(name)).url.startswith(f"{CONFIRM}?")


def test_a_change_long_after_signing_in_is_confirmed_with_a_passkey(browser_of_lena, device):
    with time_machine.travel(time.time() + 20 * 60):
        asked = browser_of_lena.get(ADD)
        assert asked.url.startswith(reverse("account_reauthenticate"))
        assert "Use a passkey" in browser_of_lena.get(asked.url).content.decode()
        answer = {"credential": json.dumps(device.use(options_on(browser_of_lena.get(CONFIRM)))), "next": ADD}
        assert browser_of_lena.post(CONFIRM, answer).url == ADD
        assert browser_of_lena.get(ADD).status_code == 200


def test_an_inactive_person_stays_out(device, lead):
    User.objects.filter(pk=lead.pk).update(is_active=False)
    browser = Browser()
    assert sign_in_with(browser, device).url == reverse("account_inactive")
    assert not is_signed_in(browser)


def test_a_passkey_works_while_somebody_guesses_passwords(device):
    browser = Browser()
    for number in range(11):
        browser.post(reverse("accounts:sign_in"), {"username": "lena", "password": f"{number}"})
    assert sign_in(browser).status_code == 429
    sign_in_with(browser, device)
    assert is_signed_in(browser)


def test_the_code_of_an_app_still_works_beside_a_passkey(
    browser_of_lena, device, django_capture_on_commit_callbacks
):
    secret = set_up_app(browser_of_lena, django_capture_on_commit_callbacks)
    browser = Browser()
    with time_machine.travel(time.time() + 60):
        sign_in(browser)
        browser.post(ENTER, {"code": code_at(secret)})
    assert is_signed_in(browser)


@pytest.mark.parametrize(
    ("site_url", "host", "shown"),
    [
        ("", "localhost", True),
        ("", "127.0.0.1", False),
        ("", "labels.example.org", False),  # not encrypted
        ("https://labels.example.org", "labels.example.org", True),
        ("https://labels.example.org", "inside.example.org", False),
        ("https://192.0.2.7", "192.0.2.7", False),
    ],
)
def test_passkeys_are_offered_where_browsers_can_use_them(db, settings, site_url, host, shown):
    settings.SITE_URL = site_url
    settings.ALLOWED_HOSTS = [host]
    page = Client(SERVER_NAME=host).get(reverse("accounts:sign_in"))
    assert ("Sign in with a passkey" in page.content.decode()) is shown


def test_passkeys_are_bound_to_the_name_of_the_site_whatever_the_proxy_says(
    settings, lead, django_capture_on_commit_callbacks
):
    settings.SITE_URL = "https://labels.example.org"
    settings.ALLOWED_HOSTS = ["labels.example.org", "10.0.0.7"]
    browser = Client(SERVER_NAME="labels.example.org")  # the proxy speaks http to us
    sign_in(browser)
    assert options_on(browser.get(ADD))["rp"]["id"] == "labels.example.org"
    device = Device(origin="https://labels.example.org", site_name="labels.example.org")
    add_passkey(browser, django_capture_on_commit_callbacks, device)
    again = Client(SERVER_NAME="labels.example.org")
    sign_in_with(again, device)
    assert is_signed_in(again)


def test_under_another_address_the_page_says_where_passkeys_work(settings, lead):
    settings.SITE_URL = "https://labels.example.org"
    client = Client()
    sign_in(client)
    assert "https://labels.example.org" in client.get(FACTORS).content.decode()
    assert "https://labels.example.org" in client.get(ADD).content.decode()
