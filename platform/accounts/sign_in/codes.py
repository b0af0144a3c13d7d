"""Codes of second factors. Wrong codes count together with wrong passwords: by django-axes, in the database."""

from typing import Any

from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal import auth as totp
from allauth.mfa.utils import decrypt
from axes.handlers.proxy import AxesProxyHandler
from django import forms
from django.contrib.auth.signals import user_login_failed
from django.db.models import Q

from accounts.sign_in.adapters import WRONG_CODE

TOO_MANY = "Too many wrong codes were entered."


class CodeForm(forms.Form):
    """A form with a code, with a limited number of wrong tries."""

    user: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].label = "Code"
        self.fields["code"].widget.attrs = {
            "autocomplete": "one-time-code",
            "autocapitalize": "none",
            "inputmode": "numeric",
            "autofocus": True,
        }

    def clean_code(self) -> str:
        request = context.request
        credentials = {"username": self.user.get_username()}
        if not AxesProxyHandler.is_allowed(request, credentials):
            request.axes_locked_out = True  # the same response as after too many wrong passwords
            raise forms.ValidationError(TOO_MANY)
        try:
            code: str = super().clean_code()  # type: ignore[misc]
            self.use(code)
        except forms.ValidationError:
            user_login_failed.send(sender=__name__, credentials=credentials, request=request)
            raise
        return code

    def use(self, code: str) -> None:
        """Refuse a code of the app if it or a later one was used before."""
        authenticator: Authenticator | None = getattr(self, "authenticator", None)
        is_app = authenticator is not None and authenticator.type == Authenticator.Type.TOTP
        if is_app and not use_once(authenticator=authenticator, code=code):
            raise forms.ValidationError(WRONG_CODE)


def use_once(*, authenticator: Authenticator, code: str) -> bool:
    """Mark the half minute of an app's code as used; return whether it is later than the last one stored.

    allauth remembers used codes in the cache, which processes do not share, and for half a minute, while a
    code works for one and a half. A single UPDATE decides between two requests with the same code.
    """
    secret = decrypt(authenticator.data["secret"])
    steps = totp.yield_hotp_counters_from_time()
    codes = {totp.format_hotp_value(totp.hotp_value(secret, step)): step for step in steps}
    step = codes.get(totp.normalize_user_code(code))
    if step is None:
        return False
    unused = Q(data__last_step__isnull=True) | Q(data__last_step__lt=step)
    stored = Authenticator.objects.filter(unused, pk=authenticator.pk)
    authenticator.data = {**authenticator.data, "last_step": step}
    return bool(stored.update(data=authenticator.data))


class SignInCodeForm(CodeForm, AuthenticateForm):
    """The form for the code after the password."""


class ConfirmCodeForm(CodeForm, ReauthenticateForm):
    """The form for the code before an important change."""


class FirstCodeForm(CodeForm, ActivateTOTPForm):
    """The first code of an app that is being set up."""
