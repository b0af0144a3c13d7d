"""A lead sets up an authenticator app in a browser, and signs in with its code and with a recovery code."""

import os
import time
from pathlib import Path

import pytest
import time_machine
from django.core.cache import cache
from django.urls import reverse

from tests.accounts.sign_in.totp import PASSWORD, code_at
from tests.e2e.axe import violations
from tests.e2e.conftest import DESKTOP, PHONE

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
PICTURES = os.environ.get("PICTURES")  # a folder for pictures of the pages


def looked_at(page, name) -> None:
    """Check a page with axe, check that it fits a phone, and save pictures of it if a folder is set."""
    assert violations(page) == []
    page.emulate_media(color_scheme="dark" if "dark" in name else "light")
    for size in (PHONE, DESKTOP):
        page.set_viewport_size(size)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        if PICTURES:
            page.screenshot(path=Path(PICTURES) / f"{name}-{size['width']}.png", full_page=True)


def sign_in(page) -> None:
    page.goto(reverse("accounts:sign_in"))
    page.get_by_label("Username").fill("lena")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def test_a_lead_who_needs_a_second_factor_sets_one_up_and_uses_it(new_page, lead, settings):
    settings.SECOND_FACTOR_FOR = ["leads"]
    cache.clear()
    page = new_page()
    sign_in(page)
    page.get_by_text("Set up a second factor to continue").wait_for()
    looked_at(page, "missing")
    page.get_by_role("link", name="Set up an app").click()
    secret = page.locator("[data-copy]").first.get_attribute("data-copy")
    looked_at(page, "set-up")
    looked_at(page, "set-up-dark")
    page.get_by_label("Code", exact=True).fill(code_at(secret))
    page.get_by_role("button", name="Finish").click()
    page.get_by_role("heading", name="Recovery codes").wait_for()
    looked_at(page, "recovery-codes")
    recovery = page.locator(".recovery-codes code").first.inner_text()
    page.get_by_role("link", name="I have saved the codes: continue").click()
    page.get_by_role("heading", name="Recovery codes").wait_for(state="detached")
    page.goto(reverse("mfa_index"))
    looked_at(page, "factors")
    for name in ("mfa_deactivate_totp", "mfa_view_recovery_codes", "mfa_reauthenticate"):
        page.goto(reverse(name))
        looked_at(page, name)

    with time_machine.travel(time.time() + 60):
        app = new_page()
        sign_in(app)
        looked_at(app, "enter")
        app.get_by_label("Code", exact=True).fill("1")
        app.get_by_role("button", name="Sign in", exact=True).click()
        app.get_by_text("The code is wrong").first.wait_for()
        looked_at(app, "wrong")
        app.get_by_label("Code", exact=True).fill(code_at(secret))
        app.get_by_role("button", name="Sign in", exact=True).click()
        app.get_by_role("link", name="Studies").first.wait_for()
        lost = new_page()
        sign_in(lost)
        lost.get_by_label("Code", exact=True).fill(recovery)
        lost.get_by_role("button", name="Sign in", exact=True).click()
        lost.get_by_role("link", name="Studies").first.wait_for()
