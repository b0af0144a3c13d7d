"""Requests that a browser has begun, in cookies of their own.

The answer comes as a form of another server. Browsers do not send the session's cookie with it, which is
SameSite=Lax; they do send these cookies, to that one address. They are signed, contain no data, and expire
after ten minutes.
"""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

PREFIX = "stereoscope_saml_"
LIFETIME = 10 * 60
_SALT = "saml request"


def remember(response: HttpResponse, request_id: str) -> None:
    """Record in the browser that it began this request."""
    response.set_signed_cookie(
        f"{PREFIX}{request_id}",
        "",
        salt=_SALT,
        max_age=LIFETIME,
        path=reverse("saml_acs"),
        secure=True,
        httponly=True,
        samesite="None",
    )


def begun(request: HttpRequest) -> set[str]:
    """Return the requests that this browser began in the last ten minutes."""
    return {
        name.removeprefix(PREFIX)
        for name in request.COOKIES
        if name.startswith(PREFIX)
        and request.get_signed_cookie(name, None, salt=_SALT, max_age=LIFETIME) is not None
    }


def forget(response: HttpResponse, request_id: str) -> None:
    """Delete the record of an answered request."""
    response.delete_cookie(f"{PREFIX}{request_id}", path=reverse("saml_acs"), samesite="None")
