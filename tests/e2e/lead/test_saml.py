"""A lead signs in through a SAML provider in Chromium, which does not send the session with the provider's form.

The server of the tests is opened as localhost, the provider as 127.0.0.1: for a browser these are two sites.
"""

import json
import subprocess
import sys
from typing import NamedTuple

import pytest
from allauth.socialaccount.models import SocialAccount
from django.core.cache import cache
from django.urls import reverse
from playwright.sync_api import expect

from tests.accounts.sign_in.providers.conftest import wait_for
from tests.accounts.sign_in.totp import PASSWORD
from tests.foundation.database.own_database import ROOT
from tests.jobs.brokers import free_port

pytest.importorskip("onelogin.saml2", reason="python3-saml is not installed: requirements/saml.txt")
from tests.accounts.sign_in.providers.saml.visits import MIRA

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


class Sites(NamedTuple):
    here: str
    provider: str


@pytest.fixture
def sites(live_server, settings, tmp_path):
    """Return the addresses of this server and of the provider's process, which are two sites."""
    here, port = live_server.url.replace("127.0.0.1", "localhost"), free_port()
    (tmp_path / "person.json").write_text(json.dumps(MIRA))
    module = "tests.accounts.sign_in.providers.saml.identity_provider"
    addresses = [f"{here}/account/saml/acs/", f"{here}/account/saml/metadata/"]
    process = subprocess.Popen([sys.executable, "-m", module, str(port), str(tmp_path), *addresses], cwd=ROOT)
    try:
        wait_for(f"http://127.0.0.1:{port}/", process)
        settings.SAML_METADATA_FILE, settings.SAML_NAME = str(tmp_path / "metadata.xml"), "Velmar University"
        settings.SITE_URL = here
        settings.SSO_NEW_ACCOUNTS, settings.SSO_GROUPS = True, [("lead", "heads")]
        cache.clear()
        yield Sites(here, f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait()


def test_a_lead_signs_in_and_comes_to_the_page_that_they_wanted(page, sites):
    page.goto(f"{sites.here}{reverse('accounts:sign_in')}?next={reverse('accounts:sessions')}")
    page.get_by_role("button", name="Sign in with Velmar University").click()
    page.get_by_role("button", name="Sign in at Velmar").click()
    page.wait_for_url(f"**{reverse('accounts:sessions')}")
    assert SocialAccount.objects.get().user.is_lead
    # Back at the provider, the same answer is sent again.
    page.go_back()
    page.get_by_role("button", name="Sign in at Velmar").click()
    expect(page.get_by_role("heading", name="You are not signed in")).to_be_visible()
    page.complaints[:] = [text for text in page.complaints if "403" not in text]
    page.goto(f"{sites.here}{reverse('accounts:profile')}")
    expect(page.get_by_text("Mira Tal").first).to_be_visible()


def test_an_answer_that_nobody_asked_for_ends_no_session(page, sites, lead):
    """The form comes without the session, which must not be replaced by an empty one."""
    page.goto(f"{sites.here}{reverse('accounts:sign_in')}")
    page.get_by_label("Username").fill(lead.username)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("link", name="Studies").first.wait_for()
    page.goto(f"{sites.provider}/lure")
    page.get_by_role("button", name="Sign in at Velmar").click()
    expect(page.get_by_role("heading", name="You are not signed in")).to_be_visible()
    page.complaints[:] = [text for text in page.complaints if "403" not in text]
    page.goto(f"{sites.here}{reverse('accounts:profile')}")
    expect(page.get_by_text(lead.username).first).to_be_visible()
