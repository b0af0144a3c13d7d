"""People who must sign in with a second factor, and the sessions that have done so.

The setting SECOND_FACTOR_FOR names groups of people. Until the session of such a person has seen a second
factor, only the pages to enter or set up one open, and the API refuses the session. API tokens are not
sessions.
"""

from collections.abc import Callable
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_removed, authenticator_used
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.module_loading import import_string

from accounts.models import User
from web.api.format import error_body

ADMINISTRATORS, LEADS, ANALYSTS = "administrators", "leads", "analysts"
GROUPS = (ADMINISTRATORS, LEADS, ANALYSTS)
# Session key: the person whose second factor the session has seen.
CONFIRMED = "second_factor_of"
FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
_OPEN_PAGES = {
    "account_login",
    "account_logout",
    "account_reauthenticate",
    "accounts:sign_in",
    "accounts:sign_out",
    "set_language",
    "healthz",
    "readyz",
}
_PREFIX = "mfa_"
# Pages where people who have a second factor confirm it before they change anything on the other pages.
_ASKING_PAGES = {
    "mfa_index",
    "mfa_authenticate",
    "mfa_login_webauthn",
    "mfa_reauthenticate",
    "mfa_reauthenticate_webauthn",
}


def is_required(user: Any) -> bool:
    """Return whether the person is in one of the groups that need a second factor."""
    needed = set(settings.SECOND_FACTOR_FOR)
    if not needed or not isinstance(user, User):
        return False
    if _groups_by_role(user) & needed:
        return True
    # Studies know leads and analysts, and this app must not import them.
    return bool(import_string(settings.STUDY_GROUPS)(user) & needed)


def is_confirmed(request: HttpRequest) -> bool:
    """Return whether this session has seen a second factor of the signed-in person."""
    return bool(request.session.get(CONFIRMED) == request.user.pk)


def is_missing(request: HttpRequest) -> bool:
    """Return whether the signed-in person must set up or enter a second factor first."""
    return is_required(request.user) and not is_confirmed(request)


class SecondFactorMiddleware:
    """Redirect people whose second factor is missing to the page where it is set up or entered."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: Any) -> HttpResponse | None:
        name = request.resolver_match.view_name if request.resolver_match else ""
        if name.startswith(_PREFIX):
            return None if name in _ASKING_PAGES else _refuse_change(request)
        if not settings.SECOND_FACTOR_FOR or name in _OPEN_PAGES or not request.user.is_authenticated:
            return None
        if not is_missing(request):
            return None
        if request.path.startswith("/api/v1/"):
            message = "Sign in with a second factor first, or use an API token."
            return JsonResponse(error_body("second_factor_missing", message, {}), status=403)
        if is_mfa_enabled(request.user, FACTORS):
            return _ask(request)
        return redirect("mfa_index")


def _refuse_change(request: HttpRequest) -> HttpResponse | None:
    """Refuse changes of second factors by a person who has one and has entered only the password."""
    user = request.user
    if not user.is_authenticated or is_confirmed(request) or not is_mfa_enabled(user, FACTORS):
        return None
    return _ask(request)


def _ask(request: HttpRequest) -> HttpResponse:
    has_app = is_mfa_enabled(request.user, [Authenticator.Type.TOTP])
    page = reverse("mfa_reauthenticate" if has_app else "mfa_reauthenticate_webauthn")
    return redirect(f"{page}?{urlencode({'next': request.get_full_path()})}")


def _groups_by_role(user: User) -> set[str]:
    roles = (
        (ADMINISTRATORS, user.is_superuser or user.is_staff),
        (LEADS, user.is_lead),
        (ANALYSTS, user.is_analyst),
    )
    return {group for group, holds in roles if holds}


def confirm(*, request: HttpRequest, user: User) -> None:
    """Record that this session has seen the person's second factor."""
    request.session[CONFIRMED] = user.pk


def is_last(authenticator: Authenticator) -> bool:
    """Return whether the person has no other second factor. Recovery codes do not count: they only replace one."""
    others = Authenticator.objects.filter(user=authenticator.user_id, type__in=FACTORS)
    return not others.exclude(pk=authenticator.pk).exists()


def _on_removal(sender: Any, request: HttpRequest, user: User, **_: Any) -> None:  # noqa: ARG001
    """Make sessions unconfirmed when the person has no second factor left."""
    if not is_mfa_enabled(user, FACTORS):
        request.session.pop(CONFIRMED, None)


def _on_use(sender: Any, request: HttpRequest, user: User, **_: Any) -> None:  # noqa: ARG001
    confirm(request=request, user=user)


authenticator_used.connect(_on_use, dispatch_uid="accounts.sign_in.second_factor")
authenticator_removed.connect(_on_removal, dispatch_uid="accounts.sign_in.second_factor.removal")
