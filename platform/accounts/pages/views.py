"""Signing in and out, and a person's own account: password and API tokens."""

from datetime import timedelta
from typing import Any

from axes.utils import reset_request
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts import tokens
from accounts.models import ApiToken, User
from accounts.pages.forms import ApiTokenForm, ThrottledPasswordChangeForm


class SignIn(LoginView):
    """User name and password; annotators who came by a link have neither and are told so."""

    template_name = "accounts/sign_in.html"
    redirect_authenticated_user = True


def too_many_failures(request: HttpRequest, _refused: HttpResponse, _credentials: Any) -> HttpResponse:
    """Say that a user name was tried too often from here; nothing about whether there is such a person."""
    wait: timedelta = settings.AXES_COOLOFF_TIME
    answer = render(
        request, "accounts/locked_out.html", {"minutes": wait // timedelta(minutes=1)}, status=429
    )
    answer["Retry-After"] = str(wait // timedelta(seconds=1))
    return answer


class ChangePassword(PasswordChangeView):
    template_name = "accounts/password.html"
    form_class = ThrottledPasswordChangeForm
    success_url = reverse_lazy("accounts:profile")

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "request": self.request}

    def form_valid(self, form: Any) -> HttpResponse:
        # The right password resets the count of wrong ones, as it does at sign-in.
        reset_request(self.request)
        messages.success(
            self.request, "Your password is changed. Other places where you were signed in are not any more."
        )
        return super().form_valid(form)

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        return super().get_context_data(base_template=base_template(self.request.user), **context)


@require_safe
@login_required
def account(request: HttpRequest) -> HttpResponse:
    """Show who is signed in, the password and the tokens."""
    return _account_page(request, ApiTokenForm(user=_user(request)))


@require_POST
@never_cache
@login_required
def create_token(request: HttpRequest) -> HttpResponse:
    """Make a token and show its key, here and never again."""
    user = _user(request)
    form = ApiTokenForm(request.POST, user=user)
    if not form.is_valid():
        return _account_page(request, form, status=400)
    chosen = form.cleaned_data
    token, key = tokens.issue(
        user=user, name=chosen["name"], scopes=chosen["scopes"], expires_at=chosen["expires_on"]
    )
    return _account_page(request, ApiTokenForm(user=user), new_token=token, new_key=key)


@require_POST
@login_required
def revoke_token(request: HttpRequest, prefix: str) -> HttpResponse:
    """Make one of one's own tokens useless."""
    token = get_object_or_404(ApiToken, user=_user(request), prefix=prefix)
    tokens.revoke(token=token)
    messages.success(request, f"The token “{token.name}” is revoked.")
    return redirect("accounts:profile")


def base_template(user: Any) -> str:
    """Annotators keep their quiet frame; everyone else has the site's navigation."""
    works_on_studies = user.is_superuser or user.is_staff or user.is_lead or user.is_analyst
    return "web/base.html" if works_on_studies else "web/base_annotator.html"


def _account_page(
    request: HttpRequest, form: ApiTokenForm, *, status: int = 200, **extra: Any
) -> HttpResponse:
    user = _user(request)
    context = {
        "base_template": base_template(user),
        "form": form,
        "tokens": user.api_tokens.filter(revoked_at=None),
        "now": timezone.now(),
        "roles": _roles(user),
        **extra,
    }
    return render(request, "accounts/account.html", context, status=status)


def _roles(user: User) -> str:
    roles = (
        ("administrator", user.is_superuser),
        ("project lead", user.is_lead),
        ("analyst", user.is_analyst),
        ("annotator", hasattr(user, "annotator")),
    )
    return ", ".join(name for name, holds in roles if holds) or "none yet"


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # login_required
    return request.user
