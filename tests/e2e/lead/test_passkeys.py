"""A lead adds a passkey in Chromium's virtual device, and signs in with it alone and after the password.

The server of the tests is opened as localhost, because passkeys cannot be bound to 127.0.0.1.
"""

import pytest
from allauth.mfa.models import Authenticator
from django.core.cache import cache
from django.urls import reverse
from playwright.sync_api import expect

from tests.e2e.lead import test_second_factor
from tests.e2e.lead.test_second_factor import sign_in

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def looked_at(page, name):
    """Check the page in another tab, because axe detaches the device from a tab."""
    tab = page.context.new_page()
    tab.goto(page.url)
    test_second_factor.looked_at(tab, name)
    tab.close()
    page.bring_to_front()
    page.reload()  # the other tab got the session's latest challenge


def plug_in(page, **more):
    """Give the browser a device with passkeys; return its session."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
        **more,
    }
    device = devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})["authenticatorId"]
    return devtools, device


def add_passkey(page, name):
    page.goto(reverse("mfa_index"))
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Add a passkey").click()


def sign_out(page):
    page.goto(reverse("accounts:profile"))
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.wait_for_url("**/")


def see_studies(page):
    page.get_by_role("link", name="Studies").first.wait_for()


def test_a_lead_who_needs_a_second_factor_adds_a_passkey_and_signs_in_with_it(page, lead, settings):
    settings.SECOND_FACTOR_FOR = ["leads"]
    cache.clear()
    plug_in(page)
    sign_in(page)
    page.get_by_text("Set up a second factor to continue").wait_for()
    looked_at(page, "passkey-missing")
    page.get_by_role("link", name="Add a passkey").click()
    looked_at(page, "passkey-add")
    looked_at(page, "passkey-add-dark")
    page.get_by_label("Name").fill("work laptop")
    page.get_by_role("button", name="Add a passkey").click()
    page.get_by_role("heading", name="Recovery codes").wait_for()
    page.goto(reverse("mfa_index"))
    page.get_by_text("signs you in without a password.").wait_for()
    looked_at(page, "passkey-list")

    sign_out(page)
    page.goto(f"{reverse('accounts:sign_in')}?next={reverse('accounts:sessions')}")
    looked_at(page, "passkey-sign-in")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_role("heading", name="Where you are signed in").wait_for()

    sign_out(page)
    sign_in(page)
    page.get_by_role("button", name="Use a passkey").wait_for()
    looked_at(page, "passkey-enter")
    page.get_by_role("button", name="Use a passkey").click()
    see_studies(page)
    confirmation = reverse("mfa_reauthenticate_webauthn")
    page.goto(confirmation)
    looked_at(page, "passkey-confirm")
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url(lambda address: confirmation not in address)  # each page has a link to the studies

    page.goto(reverse("mfa_index"))
    page.get_by_role("link", name="Rename work laptop").click()
    looked_at(page, "passkey-rename")
    page.get_by_label("Name").fill("old laptop")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Remove old laptop").click()
    page.get_by_text("Your role needs a second factor").wait_for()
    looked_at(page, "passkey-remove")
    page.get_by_role("button", name="Remove the passkey").click()
    page.get_by_text("Set up a second factor to continue").wait_for()
    assert not Authenticator.objects.exists()


def test_what_went_wrong_on_the_device_is_told_in_a_sentence(page, lead):
    cache.clear()
    devtools, device = plug_in(page)
    sign_in(page)
    add_passkey(page, "phone")
    page.get_by_role("heading", name="Recovery codes").wait_for()
    add_passkey(page, "phone again")
    page.get_by_text("This device already has a passkey for your account.").wait_for()
    devtools.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": device})
    plug_in(page, isUserVerified=False)
    sign_out(page)
    page.goto(reverse("accounts:sign_in"))
    button = page.get_by_role("button", name="Sign in with a passkey")
    button.click()
    page.get_by_text("No passkey was chosen, or you cancelled.").wait_for()
    expect(button).not_to_have_attribute("aria-busy", "true")
    test_second_factor.looked_at(page, "passkey-cancelled")


def test_a_security_key_without_a_pin_follows_the_password(page, lead):
    cache.clear()
    plug_in(page, transport="usb", hasResidentKey=False, hasUserVerification=False, isUserVerified=False)
    sign_in(page)
    add_passkey(page, "key")
    page.get_by_role("heading", name="Recovery codes").wait_for()
    page.goto(reverse("mfa_index"))
    page.get_by_text("signs you in after your password.").wait_for()
    sign_out(page)
    sign_in(page)
    page.get_by_role("button", name="Use a passkey").click()
    see_studies(page)


def test_without_scripts_the_page_says_what_a_passkey_needs_and_a_code_does(new_page, lead):
    page = new_page(java_script_enabled=False)
    page.goto(reverse("accounts:sign_in"))
    assert "<noscript><p>Passkeys need a browser with JavaScript.</p></noscript>" in page.content()
    expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_hidden()
    sign_in(page)
    see_studies(page)
