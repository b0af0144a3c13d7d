"""Adapter that django-allauth calls while a person signs in through an identity provider."""

import logging
from typing import Any

from allauth.account.signals import user_logged_in
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthProcess
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest
from django.shortcuts import redirect
from django.utils.translation import gettext

from accounts.models import User
from accounts.sign_in import second_factor
from accounts.sign_in.providers import accounts, identity_tokens, openid
from accounts.sign_in.providers.errors import explain, failed
from accounts.sign_in.providers.roles import apply_groups
from accounts.sign_in.providers.saml import provider as saml
from foundation.errors import DomainError

# Session key of the provider's ID token, which signing out there needs.
ID_TOKEN = "provider_id_token"  # noqa: S105 - a key, no secret
_log = logging.getLogger(__name__)


def configured_providers(request: HttpRequest) -> list[Any]:
    """Return the configured identity providers, in the order of the sign-in page."""
    providers: list[Any] = []
    if settings.OIDC_ISSUER:
        providers.append(openid.OpenIDConnect(request, app=openid.app()))
    if saml.is_configured():
        providers.append(saml.provider(request))
    return providers


def provider_links(request: HttpRequest) -> list[tuple[Any, SocialAccount | None]]:
    """Return the providers with which an account is or can be linked; none for people who come by a link."""
    providers = configured_providers(request)
    if not providers or not isinstance(request.user, User):
        return []
    links = {link.provider: link for link in SocialAccount.objects.filter(user=request.user)}
    if not links and not request.user.has_usable_password():
        return []
    return [(provider, links.get(provider.sub_id)) for provider in providers]


class ProviderAdapter(DefaultSocialAccountAdapter):
    """Only configured providers; accounts and roles by our rules; errors as sentences."""

    def list_apps(
        self,
        request: HttpRequest,
        provider: str | None = None,
        client_id: str | None = None,
    ) -> list[SocialApp]:
        """Return the providers of the settings; the database is not read."""
        return [
            each.app
            for each in configured_providers(request)
            if provider in {None, each.id, each.sub_id} and client_id in {None, each.app.client_id}
        ]

    def get_provider(self, request: HttpRequest, provider: str, client_id: str | None = None) -> Any:  # noqa: ARG002
        for each in configured_providers(request):
            if provider in {each.id, each.sub_id}:
                return each
        raise SocialApp.DoesNotExist

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Find the person's account and give it the roles of their groups."""
        state = sociallogin.state
        if hasattr(sociallogin, "claims"):
            identity_tokens.refuse_other_nonce(sociallogin.claims, state.get("nonce", ""))
        try:
            if state.get("process") == AuthProcess.CONNECT:
                self._link(request, sociallogin)
            user = accounts.account_of(sociallogin.identity)
        except DomainError as error:
            _log.info("A sign-in by %s was refused: %s", sociallogin.identity.provider, error.code)
            raise ImmediateHttpResponse(failed(request, error.message)) from None
        apply_groups(user=user, identity=sociallogin.identity)
        sociallogin.user = user
        sociallogin.account = SocialAccount.objects.get(
            provider=sociallogin.identity.provider, uid=sociallogin.identity.subject
        )
        # Kept while a second factor is requested.
        state["id_token"] = getattr(sociallogin, "id_token", "")
        state["has_second_factor"] = sociallogin.identity.has_second_factor

    def _link(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Link the account of the signed-in person, who requested it on their account page."""
        user, identity = request.user, sociallogin.identity
        if not isinstance(user, User) or sociallogin.state.get("data") != {"user": user.pk}:
            raise ImmediateHttpResponse(
                failed(request, gettext("You are no longer signed in. Sign in and try again."))
            )
        owner = SocialAccount.objects.filter(provider=identity.provider, uid=identity.subject).first()
        if owner is not None and owner.user_id != user.pk:
            text = gettext("The account you chose is already linked to another account on this server.")
            raise ImmediateHttpResponse(failed(request, text))
        if owner is None:
            accounts.link(user=user, identity=identity, by=user)
        messages.success(request, gettext("You can now also sign in with the linked account."))
        raise ImmediateHttpResponse(redirect("accounts:profile"))

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: str | None = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        is_begun_here = (extra_context or {}).get("state") is not None
        explanation = explain(provider.name, error=error, exception=exception, is_begun_here=is_begun_here)
        raise ImmediateHttpResponse(failed(request, explanation))


def _on_sign_in(sender: Any, request: HttpRequest, user: User, **kwargs: Any) -> None:  # noqa: ARG001
    sociallogin = kwargs.get("sociallogin")
    if sociallogin is None:
        return
    if id_token := sociallogin.state.get("id_token"):
        request.session[ID_TOKEN] = id_token
    if sociallogin.state.get("has_second_factor"):
        second_factor.confirm(request=request, user=user)


user_logged_in.connect(_on_sign_in, dispatch_uid="accounts.sign_in.providers")
