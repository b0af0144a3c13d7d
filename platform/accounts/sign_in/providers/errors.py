"""Failed sign-ins, in sentences for the person and for the log."""

import logging

from allauth.socialaccount.providers.base.constants import AuthError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext

from foundation.redaction import without_secrets

_log = logging.getLogger(__name__)


def failed(request: HttpRequest, explanation: str) -> HttpResponse:
    """Return the page that explains why a person could not sign in."""
    return render(request, "accounts/sign_in_failed.html", {"explanation": explanation}, status=403)


def explain(
    name: str, *, error: str | None = None, exception: Exception | None = None, is_begun_here: bool = True
) -> str:
    """Return an explanation for the person; reasons that only help an administrator are logged."""
    if error == AuthError.CANCELLED:
        return gettext("You cancelled signing in with %(name)s.") % {"name": name}
    if exception is not None:
        reason = without_secrets(f"{type(exception).__name__}: {exception}")[:500]
        _log.warning("A sign-in by %s failed: %s", name, reason)
        return answered_wrongly(name)
    if not is_begun_here:
        return not_begun_here()
    _log.warning("A sign-in by %s was refused by the provider.", name)
    return declined(name)


def answered_wrongly(name: str) -> str:
    """Return the explanation for a person whose provider’s answer cannot be used."""
    return gettext(
        "%(name)s did not answer correctly. Try again in a moment. If the problem remains, tell an "
        "administrator of this server, who can find the reason in the server’s log."
    ) % {"name": name}


def not_begun_here() -> str:
    """Return the explanation for a person whose answer belongs to no sign-in of theirs."""
    return gettext(
        "This sign-in took longer than ten minutes, was already completed, or was started in another browser. "
        "Start again."
    )


def declined(name: str) -> str:
    """Return the explanation for a person whose provider did not sign them in."""
    return gettext("%(name)s refused to sign you in.") % {"name": name}
