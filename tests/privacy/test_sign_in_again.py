"""An erased person who signs in again through an identity provider gets a new account."""

import pytest
from allauth.socialaccount.models import SocialAccount
from django.test import Client
from django.urls import reverse

from accounts.models import Annotator, User
from accounts.sign_in.providers.saml.provider import is_installed
from privacy.erasure.erase import erase_annotator
from tests.accounts.sign_in.providers import visits as oidc
from tests.accounts.sign_in.providers.conftest import oidc_process, provider
from tests.accounts.sign_in.providers.saml.conftest import idp, saml_key
from tests.privacy.traces import in_database

__all__ = ["idp", "oidc_process", "provider", "saml_key"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def erased(person, lead):
    """Return a function that erases the person, whose account is linked with this subject of a provider."""

    def erase(*, provider_name: str, subject: str) -> None:
        SocialAccount.objects.filter(user=person.annotator.user).update(provider=provider_name, uid=subject)
        erase_annotator(annotator=person.annotator, by=lead)
        assert not SocialAccount.objects.exists()

    return erase


def begins_anew(visited, person):
    """Check that the account is new and holds nothing of the person."""
    assert visited.is_signed_in
    user = User.objects.get(socialaccount__isnull=False)
    assert not Annotator.objects.filter(user=user).exists()
    assert not user.api_tokens.exists()
    assert visited.client.get(reverse("own_data:overview")).status_code in {302, 403, 404}
    assert in_database(person.words) == []


def test_over_openid_connect(person, erased, provider, settings):
    settings.SSO_REQUIRE_GROUP = False
    provider.describe(mira={"preferred_username": "mira"})
    before = oidc.Visit(Client(), reverse("oidc_sign_in")).go("mira")
    assert before.is_signed_in
    account = SocialAccount.objects.get(provider="oidc", user__username="mira")
    subject = account.uid
    account.user.delete()
    erased(provider_name="oidc", subject=subject)
    begins_anew(oidc.Visit(Client(), reverse("oidc_sign_in")).go("mira"), person)


@pytest.mark.skipif(not is_installed(), reason="python3-saml is not installed: requirements/saml.txt")
def test_over_saml(person, erased, idp):
    from tests.accounts.sign_in.providers.saml.visits import Visit

    erased(provider_name="saml", subject="mira@velmar.example")
    begins_anew(Visit(Client(), idp).go(), person)
