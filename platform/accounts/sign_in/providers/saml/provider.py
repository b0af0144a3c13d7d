"""The SAML identity provider that the settings name, as django-allauth sees it.

Its answers are read without django-allauth, which keeps them unread in the session and takes the state from a
cookie that browsers do not send with a form of another server.
"""

from importlib.util import find_spec
from typing import Any

from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base import Provider, ProviderAccount
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from accounts.sign_in.providers.identity import Identity

PROVIDER = "saml"


def is_installed() -> bool:
    """Return whether the packages of requirements/saml.txt are installed."""
    return find_spec("onelogin") is not None and find_spec("xmlsec") is not None


def is_configured() -> bool:
    """Return whether people can sign in through a SAML provider."""
    return bool(settings.SAML_METADATA_FILE) and is_installed()


class Saml(Provider):
    """The provider for our pages and for django-allauth's sign-in."""

    id = PROVIDER
    account_class = ProviderAccount
    supports_redirect = True

    @property
    def name(self) -> str:
        return str(settings.SAML_NAME)

    @property
    def sign_in_url(self) -> str:
        return reverse("saml_sign_in")

    @property
    def link_url(self) -> str:
        return reverse("saml_link")

    def get_login_url(self, request: HttpRequest, **kwargs: Any) -> str:  # noqa: ARG002
        return self.sign_in_url

    def login_of(self, identity: Identity, *, state: dict[str, Any]) -> SocialLogin:
        """Return the sign-in of a person whom the provider has identified."""
        login = SocialLogin(
            provider=self, account=SocialAccount(provider=identity.provider, uid=identity.subject)
        )
        login.identity, login.state = identity, state
        return login


def provider(request: HttpRequest) -> Saml:
    """Return the configured provider. None is stored in the database."""
    app = SocialApp(provider=PROVIDER, provider_id=PROVIDER, name=settings.SAML_NAME, client_id=PROVIDER)
    return Saml(request, app=app)
