"""The provider of OpenID Connect that the OIDC_… settings name.

django-allauth redirects to the provider, keeps state and PKCE's secret, and exchanges the code. The
specification requires more checks than it makes: the signature even over TLS, a nonce, the issuer of the
discovery document, and that the user info is about the same person.
"""

from typing import Any
from urllib.parse import urlencode, urlsplit

from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from accounts.sign_in.providers import identity_tokens
from accounts.sign_in.providers.identity import identity_from_claims

PROVIDER = "oidc"
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


def app() -> SocialApp:
    """Return the configured provider as a django-allauth app. None is stored in the database."""
    return SocialApp(
        provider=OpenIDConnectProvider.id,
        provider_id=PROVIDER,
        name=settings.OIDC_NAME,
        client_id=settings.OIDC_CLIENT_ID,
        secret=settings.OIDC_CLIENT_SECRET,
        settings={
            "server_url": settings.OIDC_ISSUER,
            "oauth_pkce_enabled": True,
            "scope": settings.OIDC_SCOPES,
        },
    )


class OpenIDConnectAdapter(OpenIDConnectOAuth2Adapter):
    """The communication with the provider's server."""

    @property
    def openid_config(self) -> dict[str, Any]:
        if not hasattr(self, "_openid_config"):
            self._openid_config = self._discover()
        return self._openid_config

    def _discover(self) -> dict[str, Any]:
        config = self._fetch(self.get_provider().server_url)
        issuer = settings.OIDC_ISSUER
        if config.get("issuer") != issuer:
            raise OAuth2Error(f"The provider says that it is {config.get('issuer')}, not {issuer}.")
        for name in _ENDPOINTS:
            address = config.get(name)
            if not isinstance(address, str):
                raise OAuth2Error(f"The provider names no {name}.")
            if issuer.startswith("https:") and urlsplit(address).scheme != "https":
                raise OAuth2Error(f"The provider’s {name} is not encrypted.")
        return config

    def _fetch(self, address: str, **headers: str) -> dict[str, Any]:
        with get_adapter().get_requests_session() as session:
            answer = session.get(address, headers=headers)
            answer.raise_for_status()
            document = answer.json()
        if not isinstance(document, dict):
            raise OAuth2Error(f"{address} is not a JSON object.")
        return document

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:  # noqa: ARG002
        """Return the address that is registered with the provider, regardless of the request's headers."""
        path = reverse("oidc_callback")
        return f"{settings.SITE_URL}{path}" if settings.SITE_URL else request.build_absolute_uri(path)

    def complete_login(
        self,
        request: HttpRequest,
        app: SocialApp,
        token: SocialToken,
        **kwargs: Any,
    ) -> SocialLogin:
        id_token = kwargs["response"].get("id_token")
        if not isinstance(id_token, str):
            raise OAuth2Error("The provider sent no ID token.")
        claims = identity_tokens.verified_claims(
            id_token,
            keys=self._fetch(self.openid_config["jwks_uri"]),
            issuer=settings.OIDC_ISSUER,
            client_id=app.client_id,
        )
        data = {**self._user_info(token, claims["sub"]), **claims}
        login = self.get_provider().sociallogin_from_response(request, {"id_token": data})
        login.identity = identity_from_claims(provider=PROVIDER, subject=login.account.uid, claims=data)
        login.claims, login.id_token = claims, id_token
        return login

    def _user_info(self, token: SocialToken, subject: str) -> dict[str, Any]:
        """Fetch the claims that the ID token leaves out; the ID token, which is signed, has precedence."""
        if "userinfo_endpoint" not in self.openid_config:
            return {}
        info = self._fetch(self.profile_url, Authorization=f"Bearer {token.token}")
        if info.get("sub") != subject:
            raise OAuth2Error("The user info is about somebody else.")
        return info


class OpenIDConnect(OpenIDConnectProvider):
    """The provider as django-allauth sees it."""

    oauth2_adapter_class = OpenIDConnectAdapter

    @property
    def sign_in_url(self) -> str:
        return reverse("oidc_sign_in")

    @property
    def link_url(self) -> str:
        return reverse("oidc_link")

    def get_login_url(self, request: HttpRequest, **kwargs: Any) -> str:  # noqa: ARG002
        return self.sign_in_url

    def get_callback_url(self) -> str:
        return reverse("oidc_callback")

    def extract_extra_data(self, data: Any) -> dict[str, Any]:  # noqa: ARG002
        """Keep none of the provider's claims, which are requested at each sign-in."""
        return {}


def sign_out_address(request: HttpRequest, id_token: str) -> str:
    """Return the address for signing out at the provider; "" if it has no such page or does not answer."""
    from requests import RequestException

    try:
        config = OpenIDConnectAdapter(request, PROVIDER).openid_config
    except (OAuth2Error, RequestException):
        return ""
    address = config.get("end_session_endpoint")
    if not isinstance(address, str):
        return ""
    after = request.build_absolute_uri("/") if not settings.SITE_URL else f"{settings.SITE_URL}/"
    query = {
        "client_id": settings.OIDC_CLIENT_ID,
        "id_token_hint": id_token,
        "post_logout_redirect_uri": after,
    }
    return f"{address}{'&' if '?' in address else '?'}{urlencode(query)}"
