"""Passkeys (WebAuthn): keys on a phone, a computer or a security key that identify a person.

django-allauth keeps the challenge in the session, and Yubico's fido2 checks the signature. This module sets
the name that keys are bound to, adds checks, and ensures that no input from a browser causes a server error.
"""

import struct
from collections.abc import Mapping
from functools import partial
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from allauth.core import context
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn import forms as webauthn
from django import forms
from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from fido2.cose import CoseKey
from fido2.webauthn import AuthenticationResponse, RegistrationResponse

REFUSED = _("This passkey does not work here. Try again, or sign in another way.")
TOO_MANY = "You have the maximum number of passkeys for one account. Remove a passkey first."
MOST_PER_PERSON = 20
LONGEST_NAME = 80
# A browser's answer has some hundred characters, with an attestation some thousand.
LONGEST_CREDENTIAL = 20_000
# Exceptions of fido2 when it parses malformed credentials.
MALFORMED = (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError, struct.error)


def site(request: HttpRequest) -> str:
    """Return the origin of this server for passkeys, such as https://labels.example.org."""
    parts = urlsplit(settings.SITE_URL or request.build_absolute_uri("/"))
    default = {"http": 80, "https": 443}.get(parts.scheme)
    port = "" if parts.port in {None, default} else f":{parts.port}"
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}{port}"


def site_name(request: HttpRequest) -> str:
    """Return the host name that passkeys are bound to; they work under no other."""
    return urlsplit(site(request)).hostname or ""


def site_with_passkeys(request: HttpRequest) -> str:
    """Return the address at which browsers can use passkeys: encrypted or local, with a host name; "" if none."""
    address, name = site(request), site_name(request)
    is_local = name == "localhost" or name.endswith(".localhost")
    return address if not _is_number(name) and (address.startswith("https:") or is_local) else ""


def are_possible(request: HttpRequest) -> bool:
    """Return whether browsers can use passkeys at the address of this request."""
    is_here = urlsplit(request.build_absolute_uri("/")).hostname == site_name(request)
    return is_here and bool(site_with_passkeys(request))


def _is_number(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


class CredentialField(forms.JSONField):
    """A browser's answer for a passkey, as JSON."""

    widget = forms.HiddenInput
    default_error_messages = {"required": REFUSED, "invalid": REFUSED}

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and len(value) > LONGEST_CREDENTIAL:
            raise forms.ValidationError(REFUSED)
        try:
            return super().to_python(value)
        except RecursionError:
            raise forms.ValidationError(REFUSED) from None


class PasskeyForm(forms.Form):
    """A form that a browser fills in with a passkey. Every reason for refusal gives the same sentence."""

    def clean(self) -> Any:
        try:
            return _refusing(super().clean)
        except forms.ValidationError as error:
            self.add_error("credential", error)
            return self.cleaned_data


class AddPasskeyForm(PasskeyForm, webauthn.AddWebAuthnForm):
    """A new passkey and its name."""

    credential = CredentialField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields.pop("passwordless", None)  # each passkey can sign in alone if the device supports that
        self.fields["name"].label = "Name"
        self.fields["name"].help_text = "A name that you will recognise in the list, such as “work laptop”."
        self.fields["name"].widget.attrs["maxlength"] = LONGEST_NAME

    def clean_name(self) -> str:
        # Truncated instead of refused: the device has already stored the passkey.
        return str(super().clean_name())[:LONGEST_NAME]

    def clean_credential(self) -> Mapping[str, Any]:
        credential: Mapping[str, Any] = self.cleaned_data["credential"]
        _refusing(partial(_check_registration, credential))
        if _passkeys(self.user).count() >= MOST_PER_PERSON:
            raise forms.ValidationError(TOO_MANY)
        return credential


class _UsePasskeyForm(PasskeyForm):
    credential = CredentialField()
    needs_owner_check = False

    def clean_credential(self) -> Authenticator:
        check = partial(
            _check_authentication, self.cleaned_data["credential"], needs_owner_check=self.needs_owner_check
        )
        _refusing(check)
        authenticator: Authenticator = _refusing(super().clean_credential)  # type: ignore[misc]
        return authenticator


class SecondPasskeyForm(_UsePasskeyForm, webauthn.AuthenticateWebAuthnForm):
    """The passkey that is required after the password."""


class ConfirmPasskeyForm(_UsePasskeyForm, webauthn.ReauthenticateWebAuthnForm):
    """The passkey that is required before an important change."""


class SignInPasskeyForm(_UsePasskeyForm, webauthn.LoginWebAuthnForm):
    """A passkey alone. It is two factors: the person has it, and knows its PIN or has the right finger or face.

    The session's challenge may come from a page with weaker requirements, so the device's flags are checked
    here.
    """

    needs_owner_check = True


class RenamePasskeyForm(webauthn.EditWebAuthnForm):
    """A new name for a passkey."""

    name = forms.CharField(label="Name", max_length=LONGEST_NAME)


def _refusing(clean: Any) -> Any:
    try:
        return clean()
    except forms.ValidationError:
        raise forms.ValidationError(REFUSED) from None
    except MALFORMED:
        raise forms.ValidationError(REFUSED) from None


def _check_registration(credential: Any) -> None:
    response = RegistrationResponse.from_dict(credential).response
    _check_origin(response.client_data.origin)
    key = response.attestation_object.auth_data.credential_data
    if key is None or key.public_key.get(3) not in CoseKey.supported_algorithms():
        raise ValueError("The device sent no key, or a key of a kind that was not requested.")


def _check_authentication(credential: Any, *, needs_owner_check: bool) -> None:
    response = AuthenticationResponse.from_dict(credential).response
    _check_origin(response.client_data.origin)
    if needs_owner_check and not response.authenticator_data.is_user_verified():
        raise ValueError("The device did not check who uses it.")


def _check_origin(origin: str) -> None:
    """Refuse other servers, including those whose names end with ours."""
    if origin != site(context.request):
        raise ValueError("The passkey was used at another address.")


def _passkeys(user: Any) -> Any:
    return Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN)
