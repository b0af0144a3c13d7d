"""Signing in and out through an identity provider, and linking an account with it."""

import secrets
from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.account.utils import get_next_redirect_url
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from requests import RequestException

from accounts.pages.frame import in_language_of_frame
from accounts.rights import Capability, requires, signed_in_user
from accounts.sign_in.providers import accounts, openid
from accounts.sign_in.providers.adapter import ID_TOKEN
from accounts.sign_in.providers.errors import explain, failed
from foundation.errors import NotFound

SIGN_OUT_THERE = "provider_sign_out"


def with_openid(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Serve a view only if a provider is configured, and explain when it does not answer."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.OIDC_ISSUER:
            raise NotFound("no_provider", gettext("This server has no identity provider to sign in with."))
        try:
            return view(request, *args, **kwargs)
        except (OAuth2Error, RequestException) as error:
            return failed(request, explain(settings.OIDC_NAME, exception=error))

    return guarded


@requires(post=Capability.ANYONE)
@never_cache
@with_openid
def oidc_sign_in(request: HttpRequest) -> HttpResponse:
    """Redirect the person to the provider."""
    return _lead_to_provider(request, AuthProcess.LOGIN, next_url=get_next_redirect_url(request))


@requires(post=Capability.SIGNED_IN)
@never_cache
@reauthentication_required(app="allauth.socialaccount")
@with_openid
def oidc_link(request: HttpRequest) -> HttpResponse:
    """Redirect a signed-in person to the provider, to link their account."""
    return _lead_to_provider(request, AuthProcess.CONNECT, data={"user": request.user.pk})


@requires(get=Capability.ANYONE, head=False)
@never_cache
@with_openid
def oidc_callback(request: HttpRequest) -> HttpResponse:
    """Process the provider's answer about a person who comes back from it."""
    adapter = openid.OpenIDConnectAdapter(request, openid.PROVIDER)
    response: HttpResponse = OAuth2CallbackView.adapter_view(adapter)(request)
    return response


@requires(post=Capability.SIGNED_IN)
@in_language_of_frame
@reauthentication_required(app="allauth.socialaccount")
def unlink(request: HttpRequest, account: int) -> HttpResponse:
    """Remove the link between the person's account and the provider."""
    user = signed_in_user(request)
    link = get_object_or_404(SocialAccount, pk=account, user=user)
    accounts.unlink(account=link, by=user)
    messages.success(request, gettext("You can no longer sign in with the unlinked account."))
    return redirect("accounts:profile")


@requires(post=Capability.ANYONE)
class SignOut(LogoutView):
    """Sign out here, and offer to sign out at the provider, whose session would sign in the next person at once."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        id_token = request.session.get(ID_TOKEN)
        address = openid.sign_out_address(request, id_token) if id_token and settings.OIDC_ISSUER else ""
        response = super().post(request, *args, **kwargs)
        if not address:
            return response
        request.session[SIGN_OUT_THERE] = address
        return redirect("accounts:signed_out")


@requires(get=Capability.ANYONE)
@never_cache
def signed_out(request: HttpRequest) -> HttpResponse:
    """Confirm that the person is signed out here, and that they may still be signed in at the provider."""
    context = {"address": request.session.get(SIGN_OUT_THERE, ""), "name": settings.OIDC_NAME}
    return render(request, "accounts/signed_out.html", context)


def _lead_to_provider(request: HttpRequest, process: str, **state: Any) -> HttpResponse:
    """Return a page that continues to the provider.

    A redirect is impossible, because our content security policy lets no form lead to another server.
    """
    provider = openid.OpenIDConnect(request, app=openid.app())
    nonce = secrets.token_urlsafe(24)
    there: HttpResponse = provider.redirect(
        request, process, auth_params={"nonce": nonce, **provider.get_auth_params()}, nonce=nonce, **state
    )
    if "Location" not in there:
        return there
    context = {"address": there["Location"], "name": provider.name}
    response = render(request, "accounts/to_provider.html", context)
    response["Refresh"] = f"0; url={there['Location']}"
    return response
