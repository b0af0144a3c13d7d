"""Signing in through a SAML identity provider: the request, the answer, the return from it, and our metadata."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.account.utils import get_next_redirect_url
from allauth.socialaccount.helpers import complete_social_login
from allauth.socialaccount.providers.base.constants import AuthProcess
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from accounts.rights import Capability, requires
from accounts.sign_in.providers import errors
from accounts.sign_in.providers.saml import provider as saml
from accounts.sign_in.providers.saml import requests, statements
from accounts.sign_in.providers.saml.errors import AnswerRefused, MetadataError, SignInDeclined
from foundation.errors import NotFound

# Includes the other fields of the form; the answer itself may be half as long.
LONGEST_BODY = 512 * 1024
_log = logging.getLogger(__name__)


def with_saml(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Serve a view only if a SAML provider is configured."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not saml.is_configured():
            raise NotFound("no_provider", gettext("This server has no identity provider to sign in with."))
        try:
            return view(request, *args, **kwargs)
        except MetadataError as error:
            return errors.failed(request, errors.explain(settings.SAML_NAME, exception=error))

    return guarded


@requires(post=Capability.ANYONE)
@never_cache
@with_saml
def saml_sign_in(request: HttpRequest) -> HttpResponse:
    """Redirect the person to the provider."""
    return _lead_to_provider(request, AuthProcess.LOGIN, next_url=get_next_redirect_url(request))


@requires(post=Capability.SIGNED_IN)
@never_cache
@reauthentication_required(app="allauth.socialaccount")
@with_saml
def saml_link(request: HttpRequest) -> HttpResponse:
    """Redirect a signed-in person to the provider, to link their account."""
    return _lead_to_provider(request, AuthProcess.CONNECT, data={"user": request.user.pk})


@requires(post=Capability.ANYONE)
@csrf_exempt  # the form comes from the provider; the answer is signed, and answers a request of this browser
@never_cache
@with_saml
def saml_acs(request: HttpRequest) -> HttpResponse:
    """Accept the provider's answer, and redirect the browser to a page that has its session.

    No page is rendered and no session started here: the browser sends no cookies and would lose its own.
    """
    begun = requests.begun(request)
    if not begun:
        return _go_on(problem="not_begun")
    try:
        statement, ticket = _accepted(request, begun)
    except SignInDeclined:
        _log.warning("A sign-in by %s was refused by the provider.", settings.SAML_NAME)
        return _go_on(problem="declined")
    except (MetadataError, AnswerRefused) as refusal:
        _log.warning("An answer of %s was refused: %s", settings.SAML_NAME, refusal)
        return _go_on(problem="refused")
    response = _go_on(ticket=ticket)
    requests.forget(response, statement.request_id)
    return response


@requires(get=Capability.ANYONE, head=False)
@never_cache
@with_saml
def saml_finish(request: HttpRequest) -> HttpResponse:
    """Sign in the person of an accepted answer."""
    if explanation := _explanation(request.GET.get("problem", "")):
        return errors.failed(request, explanation)
    provider = saml.provider(request)
    waiting = statements.take(request.GET.get("ticket", ""))
    try:
        if waiting is None:
            raise PermissionDenied
        request_id, identity = waiting
        state = provider.unstash_redirect_state(request, request_id)
    except PermissionDenied:
        return errors.failed(request, errors.not_begun_here())
    response: HttpResponse = complete_social_login(request, provider.login_of(identity, state=state))
    return response


@requires(get=Capability.ANYONE)
@with_saml
def saml_metadata(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """Return the metadata of this server for identity providers."""
    from accounts.sign_in.providers.saml import service

    return HttpResponse(service.metadata(), content_type="application/samlmetadata+xml")


def _accepted(request: HttpRequest, begun: set[str]) -> tuple[Any, str]:
    from accounts.sign_in.providers.saml import responses

    if int(request.META.get("CONTENT_LENGTH") or 0) > LONGEST_BODY:
        raise AnswerRefused("empty_or_too_long")
    statement = responses.verified_statement(request.POST.get("SAMLResponse", ""), request_ids=begun)
    return statement, statements.accept(statement)


def _go_on(**query: str) -> HttpResponse:
    # 303: the browser continues with GET and with its session, which it does not send with another server's
    # form.
    return HttpResponse(status=303, headers={"Location": f"{reverse('saml_finish')}?{urlencode(query)}"})


def _explanation(problem: str) -> str:
    sentences = {
        "not_begun": errors.not_begun_here(),
        "declined": errors.declined(settings.SAML_NAME),
        "refused": errors.answered_wrongly(settings.SAML_NAME),
    }
    return sentences.get(problem, "")


def _lead_to_provider(
    request: HttpRequest, process: str, *, next_url: str | None = None, data: dict[str, Any] | None = None
) -> HttpResponse:
    """Return a page that continues to the provider, because our content security policy lets no form lead there."""
    from accounts.sign_in.providers.saml import service

    provider = saml.provider(request)
    request_id, address = service.sign_in_request()
    provider.stash_redirect_state(request, process, next_url=next_url, data=data, state_id=request_id)
    response = render(request, "accounts/to_provider.html", {"address": address, "name": provider.name})
    response["Refresh"] = f"0; url={address}"
    requests.remember(response, request_id)
    return response
