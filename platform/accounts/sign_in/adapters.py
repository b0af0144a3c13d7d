"""Adapters that django-allauth calls while it signs people in."""

from io import BytesIO
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.stagekit import clear_login
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest
from django.utils.functional import lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.sign_in import limits, passkeys
from accounts.sign_in.providers.accounts import must_use_provider
from accounts.sign_in.providers.errors import failed
from foundation.encryption import seal, unseal

WRONG_CODE = "The code is wrong or was already used. Wait for the next code and enter that one."

# Messages that a page shows after a change, by allauth's name for them; other changes have no message.
MESSAGES: dict[str, Any] = {
    "account/messages/password_changed.txt": _("Your password is changed. Sign in with the new password."),
    "mfa/messages/totp_activated.txt": "Your authenticator app is set up. From now on, you are asked for a "
    "code when you sign in.",
    "mfa/messages/totp_deactivated.txt": "The authenticator app is removed.",
    "mfa/messages/webauthn_added.txt": "Your passkey is added. From now on, you are asked for the passkey when "
    "you sign in.",
    "mfa/messages/webauthn_removed.txt": "The passkey is removed. Delete the passkey on your device, too.",
    "mfa/messages/recovery_codes_generated.txt": "You have new recovery codes.",
}
# Ways to confirm one's identity, by allauth's name for them.
CONFIRMATIONS: dict[str, Any] = {
    "reauthenticate": _("Use your password"),
    "mfa_reauthenticate": _("Use a code of your app, or a recovery code"),
    "mfa_reauthenticate:webauthn": _("Use a passkey"),
}


def _wrong_password() -> str:
    words = {"username": User._meta.get_field("username").verbose_name}
    return str(AuthenticationForm.error_messages["invalid_login"]) % words


class AccountAdapter(DefaultAccountAdapter):
    """Accounts with passwords, created by an administrator."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        # Django's own sentence, which is translated into every language of the sign-in page.
        "username_password_mismatch": lazy(_wrong_password, str)(),
        "too_many_login_attempts": _("Too many wrong codes were entered. Try again in five minutes."),
        "incorrect_code": WRONG_CODE,
        "incorrect_password": "This password is wrong.",
        "invalid_password_reset": _("This link no longer works."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Leave wrong passwords to django-axes: allauth counts only by user name, so anybody could lock out others."""

    def login(self, request: HttpRequest, user: Any) -> None:
        user.backend = limits.MODEL_BACKEND
        super().login(request, user)

    def pre_login(self, request: HttpRequest, user: Any, **hook: Any) -> Any:
        """Refuse passwords and passkeys of people who must use an identity provider."""
        is_from_provider = "sociallogin" in (hook["signal_kwargs"] or {})
        if not is_from_provider and must_use_provider(user):
            clear_login(request)
            return failed(
                request,
                gettext("You cannot sign in with a password here. Use the button on the sign-in page."),
            )
        return super().pre_login(request, user, **hook)

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Require the password again only if the person did not sign in within the last minutes."""
        if limits.signed_in_within(self.request, settings.ACCOUNT_REAUTHENTICATION_TIMEOUT):
            return False
        return bool(super().is_reauthentication_required(app=app, **kwargs))

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        methods = super().get_reauthentication_methods(user)
        return [{**method, "description": CONFIRMATIONS[method["id"]]} for method in methods]

    def send_password_reset_mail(self, user: Any, email: str, context: dict[str, Any]) -> None:
        """Send no letter to people without a password, who come by a link or through an identity provider."""
        if user.has_usable_password() and not must_use_provider(user):
            super().send_password_reset_mail(user, email, context)

    def get_reset_password_from_key_url(self, key: str) -> str:
        """Link to the server's own address rather than to the host in the request's headers."""
        address: str = super().get_reset_password_from_key_url(key)
        here = self.request.build_absolute_uri("/").rstrip("/")
        return address.replace(here, settings.SITE_URL, 1) if settings.SITE_URL else address

    def format_email_subject(self, subject: Any) -> str:
        return str(subject)

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the visitor's address, which only trusted proxies may name; over a socket there is none."""
        return request.META.get("REMOTE_ADDR") or "0.0.0.0"  # noqa: S104 -- an unknown address

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        message_context: dict[str, Any] | None = None,  # noqa: ARG002
        extra_tags: str = "",  # noqa: ARG002
        message: str | None = None,
    ) -> None:
        sentence = message or MESSAGES.get(message_template or "")
        if sentence:
            messages.add_message(request, level, sentence)


class SecondFactorAdapter(DefaultMFAAdapter):
    """Second factors: their secrets are stored encrypted, with a key that is not in the database."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": WRONG_CODE,
    }

    def encrypt(self, text: str) -> str:
        return seal(text, use="second factor")

    def decrypt(self, encrypted_text: str) -> str:
        return unseal(encrypted_text, use="second factor")

    def build_totp_svg(self, url: str) -> str:
        """Draw the code on white, so that phones can read it in the dark theme too."""
        # Imported here because these libraries load lxml and PIL, which only setting up a second factor needs.
        import qrcode
        from qrcode.image.svg import SvgPathFillImage

        drawing = BytesIO()
        qrcode.make(url, image_factory=SvgPathFillImage).save(drawing)
        return drawing.getvalue().decode()

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """Identify this server to a passkey by the host of SITE_URL, which a proxy does not change."""
        return {"id": passkeys.site_name(context.request), "name": "Stereoscope"}

    def generate_authenticator_name(self, user: Any, type: Authenticator.Type) -> str:
        number = Authenticator.objects.filter(user=user, type=type).count() + 1
        return "Passkey" if number == 1 else f"Passkey {number}"
