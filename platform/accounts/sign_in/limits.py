"""Limits of sessions: an idle time, and a maximum time since signing in.

Sessions that began with a personal link or a panel record no sign-in time and end as Django's settings say,
because people who came by a link have no password to sign in again.
"""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.signals import user_logged_in
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from accounts.models import User

# The back-end that Django's session names for a signed-in person, however they signed in.
MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"
SIGNED_IN_AT = "signed_in_at"
SEEN_AT = "seen_at"
# The use of a session is recorded at most this often.
WRITE_SECONDS = 60
ENDED = "You were signed out because you had not used the site for a while. Sign in again to continue."
TOO_OLD = "You were signed out because you signed in a long time ago. Sign in again to continue."


def sign_in_by_link(*, request: HttpRequest, user: User) -> None:
    """Sign in an annotator who came by a link; the session has no limits of its own."""
    login(request, user, backend=MODEL_BACKEND)
    for key in (SIGNED_IN_AT, SEEN_AT):
        request.session.pop(key, None)


def signed_in_within(request: HttpRequest, seconds: float) -> bool:
    """Return whether the person signed in, by password or otherwise, within the last `seconds`."""
    signed_in_at: float = request.session.get(SIGNED_IN_AT, 0)
    return time.time() - signed_in_at < seconds


class SessionLimitMiddleware:
    """Sign out people whose session has reached a limit, as soon as a view accesses the user."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        user = request.user
        # Lazily: pictures and health checks need no user, and must not read a session.
        request.user = SimpleLazyObject(lambda: _within_limits(request, user))  # type: ignore[assignment]
        return self.get_response(request)


def _within_limits(request: HttpRequest, user: Any) -> Any:
    if not user.is_authenticated:
        return user
    signed_in_at = request.session.get(SIGNED_IN_AT)
    if signed_in_at is None:
        return user
    now = time.time()
    seen_at = request.session.get(SEEN_AT, signed_in_at)
    if limit_text := _reached_limit(now - signed_in_at, now - seen_at):
        request.session.flush()
        messages.info(request, limit_text)
        return AnonymousUser()
    if now - seen_at >= WRITE_SECONDS:
        request.session[SEEN_AT] = now
        UserSession.objects.filter(session_key=request.session.session_key).update(
            last_seen_at=timezone.now()
        )
    return user


def _reached_limit(age: float, idle: float) -> str:
    if 0 < timedelta(hours=settings.SESSION_MAX_HOURS).total_seconds() <= age:
        return TOO_OLD
    if 0 < timedelta(minutes=settings.SESSION_IDLE_MINUTES).total_seconds() <= idle:
        return ENDED
    return ""


def _on_sign_in(sender: Any, request: HttpRequest | None, **_: Any) -> None:  # noqa: ARG001
    if request is not None:
        request.session[SIGNED_IN_AT] = request.session[SEEN_AT] = time.time()


user_logged_in.connect(_on_sign_in, dispatch_uid="accounts.sign_in.limits")
