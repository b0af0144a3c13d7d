"""A person's own account: password and API tokens."""

from typing import Any

from allauth.account.signals import password_changed
from axes.utils import reset_request
from django.contrib import messages
from django.contrib.auth.views import PasswordChangeView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from accounts import tokens
from accounts.models import ApiToken, User
from accounts.pages.forms import ApiTokenForm, ThrottledPasswordChangeForm
from accounts.pages.frame import base_template, in_language_of_frame
from accounts.rights import Capability, requires, signed_in_user
from accounts.sign_in.providers.adapter import provider_links


@requires(get=Capability.SIGNED_IN, post=Capability.SIGNED_IN)
@method_decorator(in_language_of_frame, name="dispatch")
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
            self.request,
            _("Your password is changed. You were signed out on all other devices."),
        )
        response = super().form_valid(form)
        # The session has a new key, which the list of the person's sessions needs.
        password_changed.send(sender=User, request=self.request, user=self.request.user)
        return response

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        return super().get_context_data(base_template=base_template(self.request.user), **context)


@requires(get=Capability.SIGNED_IN)
@in_language_of_frame
def account(request: HttpRequest) -> HttpResponse:
    """Show the signed-in user, the password form and the tokens."""
    return _account_page(request, ApiTokenForm(user=signed_in_user(request)))


@requires(post=Capability.SIGNED_IN)
@never_cache
@in_language_of_frame
def create_token(request: HttpRequest) -> HttpResponse:
    """Create a token and show its key, for the only time."""
    user = signed_in_user(request)
    form = ApiTokenForm(request.POST, user=user)
    if not form.is_valid():
        return _account_page(request, form, status=400)
    chosen = form.cleaned_data
    token, key = tokens.issue(
        user=user, name=chosen["name"], scopes=chosen["scopes"], expires_at=chosen["expires_on"]
    )
    return _account_page(request, ApiTokenForm(user=user), new_token=token, new_key=key)


@requires(post=Capability.SIGNED_IN)
@in_language_of_frame
def revoke_token(request: HttpRequest, prefix: str) -> HttpResponse:
    """Revoke one of the person's own tokens."""
    token = get_object_or_404(ApiToken, user=signed_in_user(request), prefix=prefix)
    tokens.revoke(token=token)
    messages.success(request, _("The token “%(name)s” is revoked.") % {"name": token.name})
    return redirect("accounts:profile")


def _account_page(
    request: HttpRequest, form: ApiTokenForm, *, status: int = 200, **extra: Any
) -> HttpResponse:
    user = signed_in_user(request)
    context = {
        "base_template": base_template(user),
        "form": form,
        "tokens": user.api_tokens.filter(revoked_at=None),
        "now": timezone.now(),
        "roles": _roles(user),
        "provider_links": (links := provider_links(request)),
        "is_linked": any(link for _, link in links),
        **extra,
    }
    return render(request, "accounts/account.html", context, status=status)


def _roles(user: User) -> str:
    roles = (
        (_("administrator"), user.is_superuser),
        (_("project lead"), user.is_lead),
        (_("analyst"), user.is_analyst),
        (_("annotator"), hasattr(user, "annotator")),
    )
    return ", ".join(name for name, holds in roles if holds) or _("none yet")
