"""Signing in, resetting a forgotten password, and the list of a person's sessions."""

from datetime import timedelta
from typing import Any

from allauth.account.views import LoginView, PasswordResetFromKeyView, PasswordResetView
from allauth.usersessions.adapter import get_adapter
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse, reverse_lazy
from django.utils.http import urlencode
from django.utils.translation import gettext

from accounts.pages.forms import ForgottenPasswordForm, NewPasswordForm, SignInForm
from accounts.pages.frame import base_template, in_language_of_frame
from accounts.rights import Capability, requires, signed_in_user
from accounts.sign_in import passkeys
from accounts.sign_in.browsers import browser_name
from accounts.sign_in.providers.adapter import configured_providers
from foundation.errors import Forbidden


@requires(get=Capability.ANYONE, post=Capability.ANYONE)
class SignIn(LoginView):
    """Sign in with user name and password. Annotators who came by a link have neither, as the page says."""

    template_name = "accounts/sign_in.html"
    form_class = SignInForm

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        return {
            **super().get_context_data(**context),
            "sends_mail": bool(settings.EMAIL_HOST),
            "providers": configured_providers(self.request),
            "can_use_passkeys": passkeys.are_possible(self.request),
        }


def too_many_failures(request: HttpRequest, _refused: HttpResponse, _credentials: Any) -> HttpResponse:
    """Explain that a user name was tried too often from here, without revealing whether it exists."""
    wait: timedelta = settings.AXES_COOLOFF_TIME
    answer = render(
        request, "accounts/locked_out.html", {"minutes": wait // timedelta(minutes=1)}, status=429
    )
    answer["Retry-After"] = str(wait // timedelta(seconds=1))
    return answer


@requires(get=Capability.ANYONE, post=Capability.ANYONE)
def admin_sign_in(request: HttpRequest) -> HttpResponse:
    """Redirect to our own sign-in page, because the admin's requires only a password."""
    if request.user.is_authenticated:
        raise Forbidden("not_staff", "Only administrators may open the administration pages.")
    after = request.GET.get("next") or reverse("admin:index")
    return redirect(f"{reverse('accounts:sign_in')}?{urlencode({'next': after})}")


@requires(get=Capability.ANYONE, post=Capability.ANYONE)
class ForgottenPassword(PasswordResetView):
    """Send a letter with a link; the page is the same whether or not an account has that address."""

    form_class = ForgottenPasswordForm

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.EMAIL_HOST:
            raise Forbidden(
                "no_mail",
                gettext(
                    "This server cannot send e-mails. Ask an administrator of this server to give you a "
                    "new password."
                ),
            )
        answer: HttpResponse = super().dispatch(request, *args, **kwargs)
        return answer


@requires(get=Capability.ANYONE, post=Capability.ANYONE)
class NewPassword(PasswordResetFromKeyView):
    """Choose a new password with the link of a letter."""

    form_class = NewPasswordForm
    success_url = reverse_lazy("accounts:sign_in")


@requires(get=Capability.SIGNED_IN)
@in_language_of_frame
def sessions(request: HttpRequest) -> HttpResponse:
    """List the sessions of the person."""
    user = signed_in_user(request)
    current = request.session.session_key
    open_sessions = sorted(
        UserSession.objects.purge_and_list(user),
        key=lambda session: (session.session_key != current, -session.last_seen_at.timestamp()),
    )
    for session in open_sessions:
        session.browser = browser_name(session.user_agent)
        session.is_this = session.session_key == current
    context = {
        "base_template": base_template(user),
        "sessions": open_sessions,
        "others": [session for session in open_sessions if not session.is_this],
    }
    return render(request, "accounts/sessions.html", context)


@requires(post=Capability.SIGNED_IN)
@in_language_of_frame
def end_session(request: HttpRequest, session: int) -> HttpResponse:
    """End one other session of the person."""
    place = get_object_or_404(UserSession, pk=session, user=request.user)
    if place.session_key == request.session.session_key:
        raise Forbidden("this_session", gettext("To sign out here, use the button at the top of the page."))
    get_adapter().end_sessions([place])
    messages.success(request, gettext("You were signed out on the other device."))
    return redirect("accounts:sessions")


@requires(post=Capability.SIGNED_IN)
@in_language_of_frame
def end_other_sessions(request: HttpRequest) -> HttpResponse:
    """End all other sessions of the person."""
    others = UserSession.objects.filter(user=request.user).exclude(session_key=request.session.session_key)
    get_adapter().end_sessions(others)
    messages.success(request, gettext("You were signed out on all other devices."))
    return redirect("accounts:sessions")
